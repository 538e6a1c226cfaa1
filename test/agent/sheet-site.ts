/** Jobs on small sheets of labels for tests: two columns and two rows, each label with its record's `n` as a QR code. */
import { readFile } from 'node:fs/promises';
import type { LanguageId } from '../../src/contract/format.ts';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import { template } from '../../src/contract/template.ts';
import { readSymbols } from '../render/judges.ts';
import { jobFor } from './site.ts';

export const PAGE = { width: 40, height: 36 };
export const PER_PAGE = 4;
const PITCH = { x: 19, y: 17 };
const DPI = 203;

export function sheetJob(
  printerId: string,
  records: number | string[],
  copies = 1,
  language: LanguageId = 'pdf',
): QueuedJob {
  return {
    ...jobFor(printerId, records, copies),
    template: template.parse({
      name: 'Four on a page',
      width: 18,
      height: 16,
      sheet: { ...PAGE, columns: 2, rows: 2, left: 1.5, top: 1.5, pitchX: PITCH.x, pitchY: PITCH.y },
      fields: [{ name: 'n' }],
      elements: [{ type: 'barcode', symbology: 'qr', value: '{{n}}', x: 1, y: 1, module: 0.5 }],
    }),
    format: { id: `${language}-${DPI}-40x36`, name: '40 × 36', language, dpi: DPI, ...PAGE },
  };
}

/** What is on the labels of a page, from its first cell on. @throws when a cell before the last used one is empty */
export async function labelsOnPage(png: Uint8Array): Promise<string[]> {
  const cells = new Map<number, string>();
  const dotsPerMm = DPI / 25.4;
  for (const { text, position } of await readSymbols(png)) {
    const { topLeft, bottomRight } = position;
    const column = Math.floor((topLeft.x + bottomRight.x) / 2 / dotsPerMm / PITCH.x);
    const row = Math.floor((topLeft.y + bottomRight.y) / 2 / dotsPerMm / PITCH.y);
    cells.set(row * 2 + column, text);
  }
  return Array.from(cells.keys(), (_, cell) => {
    const text = cells.get(cell);
    if (text === undefined) throw new Error(`cell ${cell} of ${cells.size} labels is empty`);
    return text;
  });
}

/** The labels on pages that lie on disk, page by page. */
export async function labelsOnPages(files: readonly string[]): Promise<string[][]> {
  return await Promise.all(files.map(async (file) => labelsOnPage(await readFile(file))));
}
