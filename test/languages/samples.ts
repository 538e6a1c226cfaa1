/** The sample labels in templates/, and what their barcodes carry. */
import { readdir, readFile } from 'node:fs/promises';
import { z } from 'zod';
import { type LabelRecord, labelRecord } from '../../src/contract/print-request.ts';
import { type DesignedTemplate, designedTemplate } from '../../src/contract/template.ts';

const folder = new URL('../../templates/', import.meta.url);

/** The files: `shelf-50x25.json`, …. */
export const SAMPLES: readonly string[] = (await readdir(folder))
  .filter((file) => /^[^.]+\.json$/.test(file))
  .sort();

export async function readSample(
  name: string,
): Promise<{ template: DesignedTemplate; records: LabelRecord[] }> {
  const json = async (file: string): Promise<unknown> =>
    JSON.parse(await readFile(new URL(file, folder), 'utf8'));
  return {
    template: designedTemplate.parse(await json(name)),
    records: z
      .array(labelRecord)
      .min(3)
      .parse(await json(name.replace('.json', '.records.json'))),
  };
}

/** The article numbers of the price label, with their check digits as printed on the goods. */
const EAN: Readonly<Record<string, string>> = {
  '401234567890': '4012345678901',
  '400638133393': '4006381333931',
  '4711': '0000000047111',
  '460123456789': '4601234567893',
};

/** What the barcodes of a sample carry, by its file. */
export const SAMPLE_CODES: Readonly<Record<string, (record: Record<string, unknown>) => string[]>> = {
  'address-sheet-a4-3x8.json': (r) => [String(r['reference'])],
  'blood-bag-isbt128-100x100.json': (r) => [
    `=${r['din']}${r['flag']}`,
    `=%${r['groupCode']}`,
    `=<${r['product']}`,
    `&>0${dayOfYear(String(r['expires']))}2359`,
  ],
  'cable-wrap-25x57.json': (r) => [String(r['cable'])],
  'ghs-chemical-100x70.json': (r) => [`${r['batch']}|${r['expires']}`],
  'gs1-logistic-4x6.json': (r) => [
    `00${r['sscc']}`,
    `00${r['sscc']}02${r['gtin']}15${String(r['bestBefore']).slice(2).replaceAll('-', '')}37${r['count']}\x1d10${r['batch']}`,
  ],
  'price-70x38.json': (r) => [EAN[String(r['article'])] ?? ''],
  'shipping-4x6.json': (r) => [`00${r['sscc']}`, `${r['sscc']}|${r['postcode']}|${r['order']}`],
  'shelf-50x25.json': (r) => [String(r['ean'])],
  'tube-datamatrix.json': (r) => [String(r['sampleId'])],
};

/** ISBT 128: two digits of the year, three of the day in it. */
function dayOfYear(date: string): string {
  const day =
    (Date.parse(`${date.slice(0, 10)}T00:00:00Z`) - Date.parse(`${date.slice(0, 4)}-01-01T00:00:00Z`)) /
    864e5;
  return `${date.slice(2, 4)}${String(day + 1).padStart(3, '0')}`;
}
