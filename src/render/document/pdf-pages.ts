/** Pages of PDF documents. */
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { because } from '../../contract/reason.ts';
import { PictureFault } from '../image/picture-fault.ts';
import { PageThread } from './page-thread.ts';
import type { DrawnPart, PdfFile, PdfOrder, PdfPart } from './pdf-protocol.ts';

/** The last file is kept, because the pages of a document come one after the other. */
let last: { base64: string; file: PdfFile } | undefined;

const thread = new PageThread<PdfOrder, PdfPart>(
  new URL('./pdf-worker.ts', import.meta.url),
  because('document-broken', {}),
  () => {
    last = undefined;
  },
);

/** The end of a whole file is looked for in this many last bytes. */
const TAIL = 2_048;

/** @throws PictureFault */
export function pdfFile(base64: string): PdfFile {
  if (last?.base64 === base64) return last.file;
  const bytes = Buffer.from(base64, 'base64');
  if (!bytes.subarray(-TAIL).includes('%%EOF')) throw new PictureFault(because('document-cut-off', {}));
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  shared.set(bytes);
  last = { base64, file: { key: hash('sha256', bytes), bytes: shared } };
  return last.file;
}

/** @throws PictureFault */
export async function askPdf(order: PdfOrder): Promise<PdfPart> {
  return await thread.ask(order);
}

/**
 * Keys of files that had a part that took too long, or too much memory, together with its form. All other parts of such a file
 * are drawn without a form, even if a slow printer asks for them much later.
 */
const pictured = new LRUCache<string, true>({ max: 100 });

/** Draws a part of a page. @throws PictureFault */
export async function drawnPdf(order: Extract<PdfOrder, { kind: 'draw' }>): Promise<DrawnPart> {
  const drawn = async (form: boolean) => {
    const reply = await askPdf({ ...order, form });
    if (!('bitmap' in reply)) throw new TypeError('a page without dots');
    return reply;
  };
  if (!order.form || pictured.has(order.file.key)) return await drawn(false);
  try {
    return await drawn(true);
  } catch (error) {
    if (!(error instanceof PictureFault)) throw error;
    pictured.set(order.file.key, true);
    return await drawn(false);
  }
}

/** How many pages the document has. @throws PictureFault */
export async function pdfPages(base64: string): Promise<number> {
  const reply = await askPdf({ kind: 'pages', file: pdfFile(base64) });
  return 'pages' in reply ? reply.pages : 0;
}
