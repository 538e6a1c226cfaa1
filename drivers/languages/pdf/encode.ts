/**
 * Encodes labels as PDF: vectors from the same display list as every other language (raw ZPL as a picture). One document has
 * one record or several. Each page is exactly the label, or exactly the sheet of labels.
 *
 * The drawing library rounds pages to whole points, and would draw each copy anew. So a page is drawn once, rounded up, and the
 * document is finished here. Each copy gets a page object with the exact /MediaBox; they share one content stream (ISO 32000-1
 * §7.7.3). A new cross-reference table follows (§7.5.4). Objects that were replaced stay in the file, but nothing refers to
 * them. A page that is a form (`page-form.ts`) is left empty by the library, and gets the form here.
 */
import { deflateSync, inflateSync } from 'node:zlib';
import { PDFDocument } from '@napi-rs/canvas';
import type { QueuedJob } from '../../../src/contract/queued-job.ts';
import { drawPage } from '../../../src/render/output/vector.ts';
import { drawingOf, type PageForm, PlacedForms } from '../../../src/render/page-form.ts';
import type { LabelEncoder } from '../language.ts';
import { encoderOfPages, type PageRun } from '../pages.ts';
import { PdfText } from './text.ts';

/** A stream's dictionary ends within this many bytes. */
const LONGEST_HEAD = 500;

export async function openPdf(job: QueuedJob): Promise<LabelEncoder> {
  return await encoderOfPages(job, pdfDocument);
}

/** What is known of a page once it is drawn. Sizes are points. */
interface DrawnPage {
  readonly width: number;
  readonly height: number;
  readonly copies: number;
  readonly form: PageForm | undefined;
}

/** The version that forms may need. Skia writes 1.4. */
const VERSION = '%PDF-1.7';

/** A PDF of the pages, in their order, each `copies` times. A page is asked for only when the one before it is drawn. */
export async function pdfDocument(runs: AsyncIterable<PageRun> | Iterable<PageRun>): Promise<Uint8Array> {
  const document = new PDFDocument({ creator: 'Platen' });
  const text = new PdfText();
  const pages: DrawnPage[] = [];
  for await (const { page, copies } of runs) {
    const width = (page.widthMm * 72) / 25.4;
    const height = (page.heightMm * 72) / 25.4;
    const context = document.beginPage(Math.ceil(width), Math.ceil(height));
    // PDF measures from the bottom left, so the exact page leaves out the top and right of the rounded one.
    context.translate(0, Math.ceil(height) - height);
    context.scale(72 / page.dpi, 72 / page.dpi);
    if (page.form === undefined) drawPage(context, page, (on, item, draw) => text.draw(on, item, draw));
    document.endPage();
    pages.push({ width, height, copies, form: page.form });
  }
  return finish(document.close(), pages, text);
}

/** @param file as Skia writes it: one cross-reference table, no object streams, page objects in the pages' order */
function finish(file: Buffer, pages: readonly DrawnPage[], hidden: PdfText): Buffer {
  const text = file.toString('latin1');
  const table = Number(/startxref\n(\d+)\n%%EOF\s*$/.exec(text)?.[1]);
  const lines = text.slice(table).split('\n');
  const offsets = lines
    .slice(
      2,
      lines.findIndex((line) => line.startsWith('trailer')),
    )
    .map((line) => Number(line.slice(0, 10)));
  const trailerEnd = text.lastIndexOf('>>\nstartxref');
  const trailerStart = text.lastIndexOf('trailer\n<</Size ', trailerEnd);
  const [, trailer] = /^trailer\n<<\/Size \d+(.*)$/s.exec(text.slice(trailerStart, trailerEnd)) ?? [];
  const objects = offsets.map((offset, number) => {
    const head = `${number} 0 obj\n`;
    return text.startsWith(head, offset)
      ? text.slice(offset + head.length, text.indexOf('\nendobj', offset))
      : '';
  });
  // Skia writes many pages as a tree of nodes. Here all pages are put directly under the tree's root.
  const root = objects.findIndex((body) => body.startsWith('<</Type /Pages\n') && !body.includes('/Parent '));
  const leaves = (node: number): number[] => {
    const kids = /\/Kids \[([^[\]]*)\]/.exec(objects[node] ?? '')?.[1];
    return kids === undefined
      ? [node]
      : [...kids.matchAll(/\b(\d{1,10}) 0 R/g)].flatMap((kid) => leaves(Number(kid[1])));
  };
  const drawn = leaves(root);
  if (trailer === undefined || root < 0 || drawn.length !== pages.length) {
    throw new Error('The PDF is not laid out as expected');
  }

  const chunks: string[] = [];
  let at = table;
  const add = (number: number, content: string): void => {
    const object = `${number} 0 obj\n${content}\nendobj\n`;
    offsets[number] = at;
    at += object.length;
    chunks.push(object);
  };
  const addNew = (content: string): number => {
    const number = offsets.length;
    add(number, content);
    return number;
  };
  /** The page object, with a new content stream that includes the text of its marked lines. */
  const withText = (page: string): string => {
    if (hidden.empty) return page;
    const old = Number(/\/Contents (\d+) 0 R/.exec(page)?.[1]);
    const content = hidden.content(streamOf(file, offsets[old] ?? 0));
    return content === undefined
      ? page
      : page.replace(/\/Contents \d+ 0 R/, `/Contents ${addNew(deflated(content))} 0 R`);
  };
  const forms = new PlacedForms({ reserve: () => offsets.push(at) - 1, add });
  /** A page object that has only the form. */
  const withForm = (form: PageForm): string => {
    const content = addNew(stream(drawingOf(form)));
    const resources = `/Resources <</XObject <</P ${forms.place(form)} 0 R>>>>`;
    return `<</Type /Page\n${resources}\n/MediaBox []\n/Contents ${content} 0 R\n/Parent 0 0 R>>`;
  };
  const drawnPages = drawn.map((page, index) => {
    const form = pages[index]?.form;
    return form === undefined ? withText(objects[page] ?? '') : withForm(form);
  });
  const fonts = hidden.fonts().map(({ toUnicode, font }, index) => {
    const number = addNew(font(addNew(deflated(toUnicode)), addNew(stream('1000 0 d0'))));
    return `/PT${index} ${number} 0 R`;
  });
  const kids: number[] = [];
  for (const [index, { width, height, copies }] of pages.entries()) {
    const page = drawn[index] ?? 0;
    const box = `/MediaBox [0 0 ${width.toFixed(4)} ${height.toFixed(4)}]`;
    const body = withFonts(drawnPages[index] ?? '', fonts)
      .replace(/\/MediaBox \[[^[\]]*\]/, box)
      .replace(/\/Parent \d+ 0 R/, `/Parent ${root} 0 R`);
    for (let copy = 0; copy < copies; copy++) {
      const number = copy === 0 ? page : offsets.length;
      add(number, body);
      kids.push(number);
    }
  }
  const references = kids.map((number) => `${number} 0 R`).join(' ');
  add(root, `<</Type /Pages\n/Count ${kids.length}\n/Kids [${references}]>>`);

  const entries = offsets.map((offset, number) =>
    number === 0 ? '0000000000 65535 f \n' : `${String(offset).padStart(10, '0')} 00000 n \n`,
  );
  chunks.push(`xref\n0 ${offsets.length}\n${entries.join('')}`);
  if (pages.some(({ form }) => form !== undefined)) file.write(VERSION, 'latin1');
  chunks.push(`trailer\n<</Size ${offsets.length}${trailer}>>\nstartxref\n${at}\n%%EOF\n`);
  return Buffer.concat([file.subarray(0, table), Buffer.from(chunks.join(''), 'latin1')]);
}

/** Adds fonts to a page object. */
function withFonts(page: string, fonts: readonly string[]): string {
  if (fonts.length === 0) return page;
  return page.replace(/\/Font <</, `/Font <<${fonts.join(' ')} `);
}

/** The inflated content of a stream. Skia writes the stream's length into its dictionary. */
function streamOf(file: Buffer, offset: number): string {
  const head = file.toString('latin1', offset, offset + LONGEST_HEAD);
  const start = head.indexOf('stream\n') + 'stream\n'.length;
  const length = Number(/\/Length (\d+)/.exec(head.slice(0, start))?.[1]);
  if (start < 'stream\n'.length || Number.isNaN(length))
    throw new Error('The PDF is not laid out as expected');
  const bytes = file.subarray(offset + start, offset + start + length);
  return (head.slice(0, start).includes('/FlateDecode') ? inflateSync(bytes) : bytes).toString('latin1');
}

function deflated(content: string): string {
  return stream(deflateSync(content).toString('latin1'), '/Filter /FlateDecode ');
}

function stream(bytes: string, filter = ''): string {
  return `<<${filter}/Length ${bytes.length}>> stream\n${bytes}\nendstream`;
}
