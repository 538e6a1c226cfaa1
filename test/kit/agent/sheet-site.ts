/** Jobs on small sheets of labels for tests: two columns and two rows, each label with its record's `n` as a QR code. */
import { readFile } from 'node:fs/promises';
import type { LanguageId } from '../../../src/contract/format.ts';
import type { QueuedJob } from '../../../src/contract/queued-job.ts';
import { template } from '../../../src/contract/template.ts';
import { codesByCell } from '../judges/sheet-cells.ts';
import { jobFor } from './site.ts';

export const PAGE = { width: 40, height: 36 };
export const PER_PAGE = 4;
const SHEET = { ...PAGE, columns: 2, rows: 2, left: 1.5, top: 1.5, pitchX: 19, pitchY: 17 };
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
      sheet: SHEET,
      fields: [{ name: 'n' }],
      elements: [{ type: 'barcode', symbology: 'qr', value: '{{n}}', x: 1, y: 1, module: 0.5 }],
    }),
    format: { id: `${language}-${DPI}-40x36`, name: '40 × 36', language, dpi: DPI, ...PAGE },
  };
}

/** What is on the labels of a page, from its first cell on. */
export async function labelsOnPage(png: Uint8Array): Promise<(string | undefined)[]> {
  return await codesByCell(png, SHEET, DPI);
}

/** The labels on pages that lie on disk, page by page. */
export async function labelsOnPages(files: readonly string[]): Promise<(string | undefined)[][]> {
  return await Promise.all(files.map(async (file) => labelsOnPage(await readFile(file))));
}
