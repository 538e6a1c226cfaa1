/**
 * Makes the form of a page, and checks that the form draws what the page draws: the form is drawn by itself, and both drawings
 * are compared. A form may leave things out: a stamp or a form's field beside the page's content, or what only one reader
 * understands; or it may show a layer that is hidden on the page. Such a page is sent as a picture, so that nothing of it is
 * wrong on a label.
 */
import { setImmediate as breathe } from 'node:timers/promises';
import type { PDFDocument } from '@cantoo/pdf-lib';
import type { Canvas } from '@napi-rs/canvas';
import { VerbosityLevel } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { enclosing, type Rect } from '../display-list.ts';
import { alike } from '../image/alike.ts';
import { afterwards, drawingOf, inverse, type Matrix, type PageForm, PlacedForms } from '../page-form.ts';
import { formOf } from './form-copy.ts';
import { openPdf } from './open-pdf.ts';
import { POINTS_PER_INCH, pageCanvas } from './page-canvas.ts';

const AS_IT_IS: Matrix = [1, 0, 0, 1, 0, 0];

interface FormOrder {
  readonly file: string;
  readonly page: number;
  readonly dpi: number;
  /** Maps the page's own coordinates to the dots of the canvas. */
  readonly matrix: Matrix;
}

/**
 * @param drawn the part of the page that is to be sent, as the page draws it
 * @returns the form with the order's matrix; undefined: it draws something else
 * @throws if something on the page cannot be put into a form
 */
export async function checkedForm(
  document: PDFDocument,
  { file, page, dpi, matrix }: FormOrder,
  drawn: Canvas,
): Promise<PageForm | undefined> {
  const box = boxOf(matrix, drawn);
  if (box === undefined) return undefined;
  const form: PageForm = { file, ...formOf(document, page, box), matrix };
  const again = await drawnForm(form, drawn, dpi);
  try {
    return alike(drawn, again) ? form : undefined;
  } finally {
    again.width = 1;
    await breathe();
  }
}

type Size = Pick<Rect, 'width' | 'height'>;

/** The part of a page that a canvas shows, in the page's own coordinates. Undefined: the matrix maps the page to nothing. */
function boxOf(matrix: Matrix, { width, height }: Size): Rect | undefined {
  const back = inverse(matrix);
  if (back === undefined) return undefined;
  const corners = [
    [0, 0],
    [width, height],
  ] as const;
  const [a, b, c, d, e, f] = back;
  const points = corners.map(([x, y]) => ({ x: a * x + c * y + e, y: b * x + d * y + f }));
  return enclosing(points.map((point) => ({ ...point, width: 0, height: 0 })));
}

/** @param size dots */
async function drawnForm(form: PageForm, { width, height }: Size, dpi: number): Promise<Canvas> {
  const scale = POINTS_PER_INCH / dpi;
  const matrix = afterwards(form.matrix, [scale, 0, 0, -scale, 0, height * scale]);
  const bytes = formFile({ ...form, matrix }, { width: width * scale, height: height * scale });
  const task = openPdf(bytes, VerbosityLevel.INFOS);
  try {
    const page = await (await task.promise).getPage(1);
    return await pageCanvas(page, { dpi, width, height, transform: AS_IT_IS });
  } finally {
    await task.destroy();
  }
}

/** A PDF of one page with the form. @param size points */
function formFile(form: PageForm, { width, height }: Size): Buffer {
  const offsets: number[] = [];
  const parts: string[] = ['%PDF-1.7\n'];
  let length = parts[0]?.length ?? 0;
  const add = (number: number, text: string) => {
    const part = `${number} 0 obj\n${text}\nendobj\n`;
    offsets[number] = length;
    length += part.length;
    parts.push(part);
  };
  const content = drawingOf(form);
  add(1, '<</Type/Catalog/Pages 2 0 R>>');
  add(2, '<</Type/Pages/Count 1/Kids[3 0 R]>>');
  add(4, `<</Length ${content.length}>>stream\n${content}\nendstream`);
  let reserved = 4;
  const number = new PlacedForms({ reserve: () => ++reserved, add }).place(form);
  const resources = `/Resources<</XObject<</P ${number} 0 R>>>>`;
  add(3, `<</Type/Page/Parent 2 0 R/MediaBox[0 0 ${width} ${height}]/Contents 4 0 R${resources}>>`);
  const table = Array.from({ length: reserved }, (_, at) => {
    return `${String(offsets[at + 1] ?? 0).padStart(10, '0')} 00000 n \n`;
  });
  parts.push(`xref\n0 ${reserved + 1}\n0000000000 65535 f \n${table.join('')}`);
  parts.push(`trailer\n<</Size ${reserved + 1}/Root 1 0 R>>\nstartxref\n${length}\n%%EOF\n`);
  return Buffer.from(parts.join(''), 'latin1');
}
