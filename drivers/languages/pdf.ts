/**
 * PDF: vectors from the same display list as every other language, one document a record, one page a copy, each
 * page exactly the label.
 *
 * The drawing library rounds pages to whole points and would draw each copy anew. So the label is drawn once, on
 * a page rounded up, and the document is finished here: page objects with the exact /MediaBox, one a copy, that
 * share one content stream (ISO 32000-1 §7.7.3), and a new cross-reference table (§7.5.4). A superseded object
 * stays in the file and is referred to no more.
 */
import { setImmediate } from 'node:timers/promises';
import { PDFDocument } from '@napi-rs/canvas';
import { JobFaultError } from '../../src/contract/fault.ts';
import type { DisplayList } from '../../src/render/display-list.ts';
import { compileLabel } from '../../src/render/label-layout.ts';
import { drawList } from '../../src/render/vector.ts';
import type { Language } from './language.ts';

const NOTHING = new Uint8Array();

export const pdf: Language = {
  id: 'pdf',
  mediaType: 'application/pdf',
  open: async (job) => {
    const { template, format, orientation, records } = job;
    if (template.language === 'zpl') {
      throw new JobFaultError('language-unsupported', 'A raw ZPL template prints on ZPL printers only');
    }
    const label = await compileLabel(template, { dpi: format.dpi, orientation });
    return {
      begin: () => NOTHING,
      label: async (record, copies) => {
        const list = label.layout(records[record] ?? {}, record);
        await setImmediate();
        return pdfDocument(list, copies);
      },
      end: () => NOTHING,
    };
  },
};

/** A PDF of one label, `copies` times. */
export function pdfDocument(list: DisplayList, copies: number): Uint8Array {
  const width = (list.widthMm * 72) / 25.4;
  const height = (list.heightMm * 72) / 25.4;
  const document = new PDFDocument({ creator: 'Platen' });
  const context = document.beginPage(Math.ceil(width), Math.ceil(height));
  // PDF measures from the bottom: what is cut off the rounded page is at its top and right.
  context.translate(0, Math.ceil(height) - height);
  context.scale(72 / list.dpi, 72 / list.dpi);
  drawList(context, list);
  document.endPage();
  return finish(document.close(), width, height, copies);
}

/** @param file a document of one page, as Skia writes it: one cross-reference table, no object streams */
function finish(file: Buffer, width: number, height: number, copies: number): Buffer {
  const text = file.toString('latin1');
  const table = Number(/startxref\n(\d+)\n%%EOF\s*$/.exec(text)?.[1]);
  const lines = text.slice(table).split('\n');
  const offsets = lines
    .slice(
      2,
      lines.findIndex((line) => line.startsWith('trailer')),
    )
    .map((line) => Number(line.slice(0, 10)));
  const trailer = /trailer\n<<\/Size \d+([\s\S]*?)>>\nstartxref/.exec(text.slice(table))?.[1];
  const objects = offsets.map((offset, number) => {
    const head = `${number} 0 obj\n`;
    return text.startsWith(head, offset)
      ? text.slice(offset + head.length, text.indexOf('\nendobj', offset))
      : '';
  });
  const page = objects.findIndex((body) => body.startsWith('<</Type /Page\n'));
  const pages = objects.findIndex((body) => body.startsWith('<</Type /Pages\n'));
  if (trailer === undefined || page < 0 || pages < 0) throw new Error('The PDF is not laid out as expected');

  const numbers = Array.from({ length: copies }, (_, copy) =>
    copy === 0 ? page : offsets.length + copy - 1,
  );
  const box = `/MediaBox [0 0 ${width.toFixed(4)} ${height.toFixed(4)}]`;
  const body = (objects[page] ?? '').replace(/\/MediaBox \[[^\]]*\]/, box);
  const kids = numbers.map((number) => `${number} 0 R`).join(' ');
  const chunks: string[] = [];
  let at = table;
  const add = (number: number, content: string): void => {
    const object = `${number} 0 obj\n${content}\nendobj\n`;
    offsets[number] = at;
    at += object.length;
    chunks.push(object);
  };
  for (const number of numbers) add(number, body);
  add(pages, `<</Type /Pages\n/Count ${copies}\n/Kids [${kids}]>>`);

  const entries = offsets.map((offset, number) =>
    number === 0 ? '0000000000 65535 f \n' : `${String(offset).padStart(10, '0')} 00000 n \n`,
  );
  chunks.push(`xref\n0 ${offsets.length}\n${entries.join('')}`);
  chunks.push(`trailer\n<</Size ${offsets.length}${trailer}>>\nstartxref\n${at}\n%%EOF\n`);
  return Buffer.concat([file.subarray(0, table), Buffer.from(chunks.join(''), 'latin1')]);
}
