/** The sample labels in templates/: they print for all of their records, and their barcodes read as the data. */
import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { zpl } from '../../drivers/languages/zpl/language.ts';
import { labelRecord } from '../../src/contract/print-request.ts';
import { template } from '../../src/contract/template.ts';
import { createRecordCheck } from '../../src/render/check.ts';
import { templateProblems } from '../../src/render/template-check.ts';
import { templateFields } from '../../src/render/template-fields.ts';
import { drawZpl, jobFor, labelText, readSymbols } from '../render/judges.ts';

const folder = new URL('../../templates/', import.meta.url);
const names = (await readdir(folder)).filter((file) => /^[^.]+\.json$/.test(file));

async function readJson(file: string): Promise<unknown> {
  return JSON.parse(await readFile(new URL(file, folder), 'utf8'));
}

/** The article numbers of the price label, with their check digits as printed on the goods. */
const EAN: Readonly<Record<string, string>> = {
  '401234567890': '4012345678901',
  '400638133393': '4006381333931',
  '4711': '0000000047111',
  '460123456789': '4601234567893',
};

/** What the barcodes of a sample carry. */
const EXPECTED: Readonly<Record<string, (record: Record<string, unknown>) => string[]>> = {
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

test('there are samples', () => {
  expect(names.sort()).toEqual(Object.keys(EXPECTED).sort());
});

describe.each(names)('%s', (name) => {
  test.each([203, 300, 600])('prints at %i dpi, and reads', async (dpi) => {
    const source = template.parse(await readJson(name));
    if (source.language === 'zpl') throw new Error('a designed template was expected');
    const records = z
      .array(labelRecord)
      .min(3)
      .parse(await readJson(name.replace('.json', '.records.json')));
    const fields = templateFields(source);
    const check = await createRecordCheck(source, {
      dpi,
      orientation: 'portrait',
      job: { createdAt: '2026-11-21T07:45:00Z', records },
    });
    const encoder = await zpl.open(jobFor(source, records, { dpi }));
    const dots = (mm: number) => Math.round((mm * dpi) / 25.4);
    for (const [index, record] of records.entries()) {
      expect(Object.keys(record).sort()).toEqual([...fields].sort());
      check(record, index);
      const text = await labelText(encoder, index);
      // All are drawn; one of them is enough to be read at the higher resolutions.
      if (dpi > 203 && index > 0) continue;
      const found = await readSymbols(await drawZpl(text, dots(source.width), dots(source.height)));
      expect(found.map((symbol) => symbol.text).sort()).toEqual(EXPECTED[name]?.(record).sort());
    }
  });

  test('declares what it uses, with samples', async () => {
    const source = template.parse(await readJson(name));
    expect(source.fields.map((field) => field.name)).toEqual(templateFields(source));
    for (const field of source.fields) expect(field.sample).toBeDefined();
    expect(await templateProblems(source)).toEqual([]);
  });
});
