/** What a format sets at the printer: the commands, their ranges, and nothing that is not set. */
import { expect, test } from 'vitest';
import { openZpl } from '../../drivers/languages/zpl/encode.ts';
import { formatsOf } from '../../src/agent/printer/formats.ts';
import { formatConfig } from '../../src/agent/printer-config.ts';
import { type PrinterFormat, printerFormat } from '../../src/contract/format.ts';
import { design, jobFor } from '../kit/judges/judges.ts';

const source = design(50, 25, [{ type: 'text', x: 2, y: 2, size: 5, text: 'x' }]);

async function sent(settings: Partial<PrinterFormat>, copies = 1): Promise<string[]> {
  const job = jobFor(source, [{}]);
  const encoder = await openZpl({ ...job, format: printerFormat.parse({ ...job.format, ...settings }) });
  return [encoder.begin(), await encoder.label(0, copies), encoder.end()].map((bytes) =>
    Buffer.from(bytes).toString(),
  );
}

test('nothing is sent that is not set', async () => {
  const [begin, label, end] = await sent({});
  expect([begin, end]).toEqual(['', '']);
  expect(label).not.toMatch(/\^(?:MD|MM|MN|MT|PR)|~/);
});

test('where the label lies is said with every label, because a label before it may have said otherwise', async () => {
  expect((await sent({}))[1]).toContain('^LS0^LT0^');
  expect((await sent({ labelTop: -20, labelShift: 16 }))[1]).toContain('^LS16^LT-20^');
});

test.each<[Partial<PrinterFormat>, string]>([
  [{ darkness: 8 }, '~SD08'],
  [{ darkness: 12.5 }, '~SD12.5'],
  [{ darknessOffset: -4 }, '^XA^MD-4^XZ'],
  [{ speed: 6 }, '^XA^PR6^XZ'],
  [{ mediaTracking: 'continuous' }, '^XA^MNN^XZ'],
  [{ mediaTracking: 'gap' }, '^XA^MNY^XZ'],
  [{ mediaTracking: 'mark' }, '^XA^MNM^XZ'],
  [{ printMode: 'tear-off' }, '^XA^MMT^XZ'],
  [{ printMode: 'peel-off' }, '^XA^MMP^XZ'],
  [{ printMode: 'rewind' }, '^XA^MMR^XZ'],
  [{ printMode: 'applicator' }, '^XA^MMA^XZ'],
  [{ printMode: 'cutter' }, '^XA^MMC^XZ'],
  [{ thermalMode: 'transfer' }, '^XA^MTT^XZ'],
  [{ thermalMode: 'direct' }, '^XA^MTD^XZ'],
  [{ labelTop: -20 }, '^XA^LT-20^XZ'],
  [{ labelShift: 16 }, '^XA^LS16^XZ'],
  [{ darkness: 0, darknessOffset: 0, labelTop: 0, labelShift: 0 }, '~SD00^XA^MD0^LT0^LS0^XZ'],
])('%j', async (settings, commands) => {
  expect((await sent(settings))[0]).toBe(commands);
});

test('a cutter cuts every copy, and waits for nobody', async () => {
  expect((await sent({ printMode: 'cutter' }, 3))[1]).toMatch(/\^PQ3,1,0,Y\^XZ$/);
  expect((await sent({ printMode: 'tear-off' }, 3))[1]).toMatch(/\^PQ3\^XZ$/);
  const job = jobFor(
    source,
    Array.from({ length: 50 }, (_, n) => ({ n })),
  );
  const batch = await openZpl({
    ...jobFor(design(50, 25, [{ type: 'text', x: 2, y: 2, size: 4, text: '{{n}}' }]), job.records),
    format: { ...job.format, printMode: 'cutter' },
  });
  expect(Buffer.from(batch.begin()).toString()).toMatch(/^\^XA\^MMC\^XZ\^XA\^DFR:/);
  expect(Buffer.from(await batch.label(4, 1)).toString()).toMatch(/\^PQ1,1,0,Y\^XZ$/);
});

test.each([
  { darkness: 31 },
  { darkness: -1 },
  { darkness: 1.23 },
  { darknessOffset: 31 },
  { speed: 0 },
  { speed: 15 },
  { labelTop: 121 },
  { labelShift: 10_000 },
  { mediaTracking: 'web' },
  { printMode: 'delayed' },
  { thermalMode: 'ribbon' },
])('%j is refused', (settings) => {
  const entry = { dpi: 203, width: 50, height: 25 };
  expect(formatConfig.safeParse(entry).success).toBe(true);
  expect(formatConfig.safeParse({ ...entry, ...settings }).success).toBe(false);
  const { format } = jobFor(source, [{}]);
  expect(printerFormat.safeParse({ ...format, ...settings }).success).toBe(false);
});

test('formats that differ in their settings are two, with IDs that do not depend on how they are written', () => {
  const entry = (more: object) => formatConfig.parse({ dpi: 203, width: 50, height: 25, ...more });
  const base = { uri: 'socket://127.0.0.1', language: 'zpl' } as const;
  const formats = [
    entry({}),
    entry({ printMode: 'cutter', darkness: 12.5 }),
    entry({ darkness: 12.5, printMode: 'cutter' }),
    entry({ darkness: 5, name: 'Pale' }),
  ];
  const found = formatsOf({ ...base, formats }, null);
  expect(found.map(({ id }) => id)).toEqual([
    'zpl-203-50x25',
    'zpl-203-50x25-darkness-12.5-print-mode-cutter',
    'zpl-203-50x25-darkness-5',
  ]);
  expect(found[1]).toMatchObject({ darkness: 12.5, printMode: 'cutter' });
  expect(found[2]?.name).toBe('Pale');
  for (const format of found) expect(printerFormat.parse(format)).toEqual(format);
});
