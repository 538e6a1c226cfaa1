/** The sample labels in templates/: they print for all of their records, and their barcodes read as the data. */
import { describe, expect, test } from 'vitest';
import { openZpl } from '../../drivers/languages/zpl/encode.ts';
import { createRecordCheck } from '../../src/render/check.ts';
import { templateProblems } from '../../src/render/template-check.ts';
import { templateFields } from '../../src/render/template-fields.ts';
import { drawZpl, jobFor, labelText, readSymbols } from '../kit/judges/judges.ts';
import { readSample, SAMPLE_CODES, SAMPLES } from './samples.ts';

test('there are samples', () => {
  expect(SAMPLES).toEqual(Object.keys(SAMPLE_CODES).sort());
});

describe.each(SAMPLES)('%s', (name) => {
  test.each([203, 300, 600])('prints at %i dpi, and reads', async (dpi) => {
    const { template: source, records } = await readSample(name);
    const fields = templateFields(source);
    const check = await createRecordCheck(source, {
      dpi,
      orientation: 'portrait',
      job: { createdAt: '2026-11-21T07:45:00Z', copies: 1, records },
    });
    const encoder = await openZpl(jobFor(source, records, { dpi }));
    const dots = (mm: number) => Math.round((mm * dpi) / 25.4);
    for (const [index, record] of records.entries()) {
      expect(Object.keys(record).sort()).toEqual([...fields].sort());
      check(record, index);
      const text = await labelText(encoder, index);
      // All are drawn; one of them is enough to be read at the higher resolutions.
      if (dpi > 203 && index > 0) continue;
      const found = await readSymbols(await drawZpl(text, dots(source.width), dots(source.height)));
      expect(found.map((symbol) => symbol.text).sort()).toEqual(SAMPLE_CODES[name]?.(record).sort());
    }
  });

  test('declares what it uses, with samples', async () => {
    const { template: source } = await readSample(name);
    expect(source.fields.map((field) => field.name)).toEqual(templateFields(source));
    for (const field of source.fields) expect(field.sample).toBeDefined();
    expect(await templateProblems(source)).toEqual([]);
  });
});
