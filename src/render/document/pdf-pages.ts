/** Pages of PDF documents. */
import { because } from '../../contract/reason.ts';
import type { Bitmap } from '../image/bitmap.ts';
import { PictureFault } from '../image/picture-fault.ts';
import type { PageForm } from '../page-form.ts';
import { PageThread, pagesWorkedMs } from './page-thread.ts';
import type { PdfFile, PdfOrder, PdfPart } from './pdf-protocol.ts';

/** The last file: the pages of a document come one after the other. */
let last: { base64: string; file: PdfFile } | undefined;
let keys = 0;

const thread = new PageThread<PdfOrder, PdfPart>(
  new URL('./pdf-worker.ts', import.meta.url),
  because('document-broken', {}),
  () => {
    last = undefined;
  },
);

/** Where the end of a whole file is looked for, bytes. */
const TAIL = 2_048;

/** @throws PictureFault */
export function pdfFile(base64: string): PdfFile {
  if (last?.base64 === base64) return last.file;
  const bytes = Buffer.from(base64, 'base64');
  if (!bytes.subarray(-TAIL).includes('%%EOF')) throw new PictureFault(because('document-cut-off', {}));
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  shared.set(bytes);
  last = { base64, file: { key: ++keys, bytes: shared } };
  return last.file;
}

/** @throws PictureFault */
export async function askPdf(order: PdfOrder): Promise<PdfPart> {
  return await thread.ask(order);
}

/** ms of work for a page's picture; a page that takes longer is sent as its picture, since a form takes twice as long. */
const SOON = 2_000;
/** Files of which a page took too long or too much memory as a form: their other pages are not tried. */
const pictured = new WeakSet<PdfFile>();

/**
 * Draws a part of a page.
 * @returns its dots, and what makes a form of it: undefined, if it can be a picture only
 * @throws PictureFault
 */
export async function drawnPdf(
  order: Extract<PdfOrder, { kind: 'draw' }>,
): Promise<{ bitmap: Bitmap; form: () => Promise<PageForm | undefined> }> {
  const before = pagesWorkedMs();
  const drawn = await askPdf(order);
  if (!('bitmap' in drawn)) throw new TypeError('a page without dots');
  const slow = pagesWorkedMs() - before > SOON;
  const { file, page, dpi, part, zoom } = order;
  const form = async () => {
    if (slow || pictured.has(file)) return undefined;
    try {
      const reply = await askPdf({ kind: 'form', file, page, dpi, part, zoom });
      return 'form' in reply ? reply.form : undefined;
    } catch (error) {
      if (!(error instanceof PictureFault)) throw error;
      pictured.add(file);
      return undefined;
    }
  };
  return { bitmap: drawn.bitmap, form };
}

/** How many pages the document has. @throws PictureFault */
export async function pdfPages(base64: string): Promise<number> {
  const reply = await askPdf({ kind: 'pages', file: pdfFile(base64) });
  return 'pages' in reply ? reply.pages : 0;
}
