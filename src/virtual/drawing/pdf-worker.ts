/**
 * Draws one page of a PDF as a label printer would: in its own size from the top left corner of the media, every
 * dot black or white. A thread of its own, because a page may take as long and as much memory as its author likes.
 */
import { setImmediate as yieldToCollector } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';
import { createCanvas, type SKRSContext2D } from '@napi-rs/canvas';
import type { PDFDocumentProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { openPdf } from '../../render/document/open-pdf.ts';
import type { DocumentFault, PdfDocument, PdfPageReply, PdfPageRequest } from './pdf-protocol.ts';

const POINTS_PER_INCH = 72;
/** Above this a pixel of the antialiased page is white. */
const THRESHOLD = 128;

/** The document of the last page drawn; it stays open for the next page. */
let open: { key: number; document: Promise<PDFDocumentProxy>; close: () => Promise<void> } | undefined;

function documentOf({ key, bytes }: PdfDocument): Promise<PDFDocumentProxy> {
  if (open?.key === key) return open.document;
  // Closing fails only for a document that could not be opened.
  open?.close().catch(() => undefined);
  const task = openPdf(bytes);
  open = { key, document: task.promise, close: () => task.destroy() };
  return task.promise;
}

async function draw(request: PdfPageRequest): Promise<PdfPageReply> {
  const { id, width, height, dpi } = request;
  const document = await documentOf(request.document);
  const page = await document.getPage(request.page);
  const rotation = (page.rotate + request.rotation) % 360;
  let scale = dpi / POINTS_PER_INCH;
  if (request.fit) {
    const own = page.getViewport({ scale: 1, rotation });
    scale = Math.min(width / own.width, height / own.height);
  }
  const canvas = createCanvas(width, height);
  const canvasContext = canvas.getContext('2d');
  canvasContext.fillStyle = '#fff';
  canvasContext.fillRect(0, 0, width, height);
  const viewport = page.getViewport({ scale, rotation });
  await page.render({ canvas, canvasContext, viewport, intent: 'print' }).promise;
  page.cleanup();
  blackAndWhite(canvasContext, width, height);
  const png = await canvas.encode('png');
  // The drawing library frees its pictures only after a turn of the event loop.
  await yieldToCollector();
  return { id, png, pages: document.numPages };
}

function blackAndWhite(context: SKRSContext2D, width: number, height: number): void {
  const image = context.getImageData(0, 0, width, height);
  const { data: pixels } = image;
  for (let at = 0; at < pixels.length; at += 4) {
    const light = 0.299 * (pixels[at] ?? 0) + 0.587 * (pixels[at + 1] ?? 0) + 0.114 * (pixels[at + 2] ?? 0);
    const ink = light < THRESHOLD ? 0 : 255;
    pixels[at] = ink;
    pixels[at + 1] = ink;
    pixels[at + 2] = ink;
  }
  context.putImageData(image, 0, 0);
}

const FAULTS: Record<string, DocumentFault> = {
  PasswordException: 'document-password-error',
  InvalidPDFException: 'document-format-error',
};

async function reply(request: PdfPageRequest): Promise<PdfPageReply> {
  try {
    return await draw(request);
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    return { id: request.id, fault: FAULTS[name] ?? 'document-unprintable-error', message };
  }
}

const port = parentPort;
if (!port) throw new Error('pdf-worker runs as a worker thread only');
port.on('message', (request: PdfPageRequest) => {
  void reply(request).then((answer) => port.postMessage(answer));
});
