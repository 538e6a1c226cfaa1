/** One thread for the PDF pages of all virtual printers of a process. */
import { DrawingThread } from '../../render/drawing-thread.ts';
import type { PdfDocument, PdfPageReply, PdfPageRequest } from './pdf-protocol.ts';

let lastKey = 0;

export function pdfDocument(content: Uint8Array): PdfDocument {
  const bytes = new Uint8Array(new SharedArrayBuffer(content.length));
  bytes.set(content);
  return { key: ++lastKey, bytes };
}

/** The most that one page may take, bytes: a document of a few bytes can ask for any amount. */
const MEMORY = 768 * 1024 * 1024;

export const pdfPool = new DrawingThread<Omit<PdfPageRequest, 'id'>, PdfPageReply>(
  new URL('./pdf-worker.ts', import.meta.url),
  { memory: MEMORY },
);
