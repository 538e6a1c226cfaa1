/** Draws pages of PDF documents in dots, on a thread of its own: a page may take as much time and memory as it likes. */
import { setImmediate as breathe } from 'node:timers/promises';
import type { PDFDocument } from '@cantoo/pdf-lib';
import type { Canvas } from '@napi-rs/canvas';
import {
  OPS,
  type PDFDocumentProxy,
  type PDFPageProxy,
  Util,
  VerbosityLevel,
} from 'pdfjs-dist/legacy/build/pdf.mjs';
import { because, type Reason } from '../../contract/reason.ts';
import { inBandsOf } from '../image/in-bands.ts';
import { PictureFault } from '../image/picture-fault.ts';
import { isSameResolution } from '../image/picture-file.ts';
import { afterwards, type Matrix, type PageForm } from '../page-form.ts';
import { openPdf } from './open-pdf.ts';
import { POINTS_PER_INCH, pageCanvas } from './page-canvas.ts';
import { servePages } from './page-worker.ts';
import type { PdfFile, PdfOrder, PdfPart } from './pdf-protocol.ts';

/** If drawing a page takes more µs of work than this, it gets no form, because the form would take as long again. */
const SOON = 2_000_000;
/** Most pages of a document. */
const MOST_PAGES = 2_000;

/** pdf.js leaves out what it cannot read, and only prints a message. For compressed data its level is the lowest one. */
const FAULTY =
  /Unable to decode|Image exceeded|Invalid (?:or corrupted|image)|getOperatorList|JpxError|Jbig2|JpegError|Dependent image|Operator list|FormatError|UnknownErrorException|flate stream/i;
/** How many characters of a message are looked at. */
const LOOKED_AT = 300;
/** Warnings that other readers may draw a page differently, as with a missing font. Those on fonts' hints (TT) are not. */
const OWN_WAY = /^Warning: (?!TT: )/;
/** Whether pdf.js has printed such messages since the last request, and since the last form. */
let [faulty, ownWay] = [false, false];
for (const name of ['log', 'warn', 'info', 'error'] as const)
  console[name] = (...said: unknown[]) => {
    const text = said.map(String).join(' ').slice(0, LOOKED_AT);
    faulty ||= FAULTY.test(text);
    ownWay ||= OWN_WAY.test(text);
  };

/** The document of the last page; it stays open for the next page. */
let open: { key: string; document: Promise<PDFDocumentProxy>; close: () => Promise<void> } | undefined;

async function documentOf({ key, bytes }: PdfFile): Promise<PDFDocumentProxy> {
  if (open?.key !== key) {
    // Closing fails only if the document could not be opened.
    open?.close().catch(() => undefined);
    const task = openPdf(bytes, VerbosityLevel.INFOS);
    open = { key, document: task.promise, close: () => task.destroy() };
  }
  const document = await open.document;
  const { numPages: pages } = document;
  // pdf.js believes the number that the file says.
  if (!(pages > 0)) throw new PictureFault(because('document-broken', {}));
  if (pages > MOST_PAGES) throw new PictureFault(because('document-pages', { pages, most: MOST_PAGES }));
  return document;
}

async function answerTo(request: PdfOrder): Promise<PdfPart> {
  faulty = false;
  const document = await documentOf(request.file);
  if (request.kind === 'pages') return { pages: document.numPages };
  if (request.page > document.numPages) {
    throw new PictureFault(because('document-no-page', { page: request.page, pages: document.numPages }));
  }
  const page = await document.getPage(request.page);
  const { dpi } = request;
  const { here, form } = await placesOf(page, dpi);
  const size = page.getViewport({ scale: dpi / POINTS_PER_INCH });
  const width = Math.max(1, Math.round(size.width * here.x.scale));
  const height = Math.max(1, Math.round(size.height * here.y.scale));
  if (request.kind === 'size') return { width, height };
  const { part, zoom } = request;
  const onPart = ({ x, y }: Place): Matrix => [
    ...([x.scale * zoom, 0, 0, y.scale * zoom] as const),
    ...([x.shift * zoom - part.x, y.shift * zoom - part.y] as const),
  ];
  const since = process.threadCpuUsage();
  const canvas = await pageCanvas(page, {
    dpi,
    width: part.width,
    height: part.height,
    transform: onPart(here),
  });
  if (faulty) throw new PictureFault(because('document-faulty', { page: request.page }));
  const { user } = process.threadCpuUsage(since);
  try {
    const bitmap = inBandsOf(canvas, request.halftone);
    if (!request.form || user > SOON) return { bitmap };
    const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = size.transform.map(Number);
    const matrix = afterwards([a, b, c, d, e, f], onPart(form));
    return { bitmap, form: await formOf(request, matrix, canvas) };
  } finally {
    // The drawing library frees its pictures only after a turn of the event loop.
    canvas.width = 1;
    await breathe();
  }
}

/** The document that the last form was taken from. */
let forForms: { key: string; document: Promise<PDFDocument> } | undefined;

async function formOf(
  { file, page, dpi }: Extract<PdfOrder, { kind: 'draw' }>,
  matrix: Matrix,
  drawn: Canvas,
): Promise<PageForm | undefined> {
  // Loaded only when a printer takes vectors, because it is much code.
  const { openForForms } = await import('./form-copy.ts');
  const { checkedForm } = await import('./checked-form.ts');
  if (forForms?.key !== file.key) forForms = { key: file.key, document: openForForms(file.bytes) };
  try {
    const document = await forForms.document;
    ownWay = false;
    const form = await checkedForm(document, { file: file.key, page, dpi, matrix }, drawn);
    return faulty || ownWay ? undefined : form;
  } catch {
    return undefined;
  }
}

interface Along {
  readonly scale: number;
  readonly shift: number;
}
type Place = { readonly x: Along; readonly y: Along };
const AS_IT_IS: Place = { x: { scale: 1, shift: 0 }, y: { scale: 1, shift: 0 } };

/** In a form, a scan ends this many dots inside the edges of its dots. Otherwise readers would draw one more row or column. */
const INSET = 0.002;

/**
 * How a page is moved and scaled, as it is drawn here and as a form, if it is a single scan of the printer's resolution: each
 * pixel comes to lie on a dot. Other pages stay as they are.
 */
async function placesOf(page: PDFPageProxy, dpi: number): Promise<{ here: Place; form: Place }> {
  const asItIs = { here: AS_IT_IS, form: AS_IT_IS };
  const scan = await onlyPicture(page);
  if (scan === undefined) return asItIs;
  const { transform } = page.getViewport({ scale: dpi / POINTS_PER_INCH });
  const [a, b, c, d, e, f] = product(transform, scan.matrix);
  const lies = Math.abs(b) + Math.abs(c) < 1e-3;
  const turned = Math.abs(a) + Math.abs(d) < 1e-3;
  if (!lies && !turned) return asItIs;
  const sideways = { pixels: turned ? scan.height : scan.width, length: turned ? c : a, from: e };
  const down = { pixels: turned ? scan.width : scan.height, length: turned ? b : d, from: f };
  const resolution = [sideways, down].map(({ pixels, length }) => pixels / Math.abs(length));
  if (!resolution.every(isSameResolution)) return asItIs;
  const place = (inset: number) => ({ x: along(sideways, inset), y: along(down, inset) });
  return { here: place(0), form: place(INSET) };
}

/** `length` and `from` are dots of the page. `length` is negative if the picture is mirrored. */
function along(
  { pixels, length, from }: { pixels: number; length: number; from: number },
  inset: number,
): Along {
  const start = Math.min(from, from + length);
  const first = Math.round((start * pixels) / Math.abs(length));
  const scale = (pixels - 2 * inset) / Math.abs(length);
  return { scale, shift: first + inset - start * scale };
}

interface Picture {
  readonly width: number;
  readonly height: number;
  /** Maps the unit square to the page, points. */
  readonly matrix: Matrix;
}

const PICTURES = new Set([OPS.paintImageXObject, OPS.paintInlineImageXObject, OPS.paintImageMaskXObject]);
const DRAWS = new Set([
  ...[OPS.shadingFill, OPS.paintImageMaskXObjectGroup, OPS.paintImageMaskXObjectRepeat],
  ...[OPS.paintImageXObjectRepeat, OPS.paintInlineImageXObjectGroup, OPS.paintSolidColorImageMask],
  OPS.beginGroup,
]);

/** A picture over this share of the page is the page, even if there is text or a path too, such as an invisible layer. */
const MOST_OF_IT = 0.8;

/** The page's picture, if it has just one, and nothing else that counts. */
async function onlyPicture(page: PDFPageProxy): Promise<Picture | undefined> {
  const { fnArray, argsArray } = await page.getOperatorList({ intent: 'print' });
  let matrix: Matrix = [1, 0, 0, 1, 0, 0];
  const saved: Matrix[] = [];
  let only: Picture | undefined;
  let alone = true;
  for (const [at, operator] of fnArray.entries()) {
    const args: unknown = argsArray[at];
    if (operator === OPS.save || operator === OPS.paintFormXObjectBegin) saved.push(matrix);
    if (operator === OPS.restore || operator === OPS.paintFormXObjectEnd) matrix = saved.pop() ?? matrix;
    if (operator === OPS.transform) matrix = product(matrix, args);
    if (operator === OPS.paintFormXObjectBegin && Array.isArray(args) && args[0])
      matrix = product(matrix, args[0]);
    if (DRAWS.has(operator)) return undefined;
    if (operator === OPS.showText || operator === OPS.showSpacedText) alone = false;
    // A path is painted, unless it only ends.
    if (operator === OPS.constructPath && Array.isArray(args) && args[0] !== OPS.endPath) alone = false;
    if (!PICTURES.has(operator)) continue;
    const size = sizeIn(args);
    if (only !== undefined || size === undefined) return undefined;
    only = { ...size, matrix };
  }
  if (alone || only === undefined) return only;
  const [left = 0, bottom = 0, right = 0, top = 0] = page.view;
  const [a, b, c, d] = only.matrix;
  return Math.abs(a * d - b * c) >= MOST_OF_IT * (right - left) * (top - bottom) ? only : undefined;
}

function product(one: readonly number[], other: unknown): Matrix {
  const numbers = Array.from(other as ArrayLike<unknown>, Number);
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = Util.transform([...one], numbers).map(Number);
  return [a, b, c, d, e, f];
}

/** The arguments are an object's name with width and height, or a picture that has both. */
function sizeIn(args: unknown): { width: number; height: number } | undefined {
  if (!Array.isArray(args)) return undefined;
  const [first, width, height]: unknown[] = args;
  if (typeof width === 'number' && typeof height === 'number') return { width, height };
  if (typeof first !== 'object' || first === null) return undefined;
  const own = { width: Number(Reflect.get(first, 'width')), height: Number(Reflect.get(first, 'height')) };
  return own.width > 0 && own.height > 0 ? own : undefined;
}

function refusal(error: unknown): Reason {
  const name = error instanceof Error ? error.name : '';
  return because(name === 'PasswordException' ? 'document-encrypted' : 'document-broken', {});
}

servePages(answerTo, refusal, (made) => ('bitmap' in made ? [made.bitmap.data.buffer as ArrayBuffer] : []));
