/** The sample labels in templates/: they print for all of their records, and their barcodes read as the data. */
import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { zpl } from '../../drivers/languages/zpl/language.ts';
import { labelRecord } from '../../src/contract/print-request.ts';
import { template } from '../../src/contract/template.ts';
import { createRecordCheck } from '../../src/render/check.ts';
import { templateFields } from '../../src/render/template-fields.ts';
import { drawZpl, jobFor, labelText, readSymbols } from '../render/judges.ts';

const folder = new URL('../../templates/', import.meta.url);
const names = (await readdir(folder)).filter((file) => /^[^.]+\.json$/.test(file));

async function readJson(file: string): Promise<unknown> {
  return JSON.parse(await readFile(new URL(file, folder), 'utf8'));
}

/** What the barcodes of a sample carry. */
const EXPECTED: Readonly<Record<string, (record: Record<string, unknown>) => string[]>> = {
  'shipping-4x6.json': (r) => [`00${r['sscc']}`, `${r['sscc']}|${r['postcode']}|${r['order']}`],
  'shelf-50x25.json': (r) => [String(r['ean'])],
  'tube-datamatrix.json': (r) => [String(r['sampleId'])],
};

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
    const check = await createRecordCheck(source, { dpi, orientation: 'portrait' });
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
  });
});
