/** Pages of PDF documents, drawn in a thread with a bound on its time and memory. */
import { because } from '../../contract/reason.ts';
import { DrawingStopped, DrawingThread } from '../drawing-thread.ts';
import { PictureFault } from '../image/picture-fault.ts';
import { requireBase64 } from './document-file.ts';
import type { PdfFile, PdfOrder, PdfReply } from './pdf-protocol.ts';

/** ms for one answer. */
const TIME = 10_000;
/** The most by which the process may grow over one answer, bytes. */
const MEMORY = 512 * 1024 * 1024;
const HEAP_MB = 256;
/** ms that the thread is kept for the next page. */
const KEPT = 10_000;

const thread = new DrawingThread<PdfOrder, PdfReply>(new URL('./pdf-worker.ts', import.meta.url), {
  ...{ memory: MEMORY, time: TIME, heapMb: HEAP_MB },
});

/** The last file: the pages of a document come one after the other. */
let last: { base64: string; file: PdfFile } | undefined;
let keys = 0;

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
export async function askPdf(order: PdfOrder): Promise<PdfReply> {
  thread.acquire();
  try {
    const reply = await thread.draw(order);
    if ('refused' in reply) throw new PictureFault(reply.refused);
    return reply;
  } catch (error) {
    if (!(error instanceof DrawingStopped)) throw error;
    if (error.reason === 'time') throw new PictureFault(because('draws-long', { seconds: TIME / 1_000 }));
    throw new PictureFault(because(error.reason === 'memory' ? 'draws-much' : 'document-broken', {}));
  } finally {
    setTimeout(() => {
      last = undefined;
      void thread.release();
    }, KEPT).unref();
  }
}

/** How many pages the document has. @throws PictureFault */
export async function pdfPages(base64: string): Promise<number> {
  requireBase64(base64);
  const reply = await askPdf({ kind: 'pages', file: pdfFile(base64) });
  return 'pages' in reply ? reply.pages : 0;
}
