/**
 * Batches with a stored format: the printer draws the very labels that it draws from whole ones, and gets no more
 * bytes than the data is worth.
 */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { LABELS, record } from '../../bench/render-label.ts';
import { openZpl } from '../../drivers/languages/zpl/encode.ts';
import type { LabelRecord } from '../../src/contract/print-request.ts';
import { VirtualZplPrinter } from '../../src/virtual/zpl/zpl-printer.ts';
import { design, differingDots, dotsOf, drawZpl, jobFor, labelText } from '../kit/judges/judges.ts';

const delivery = LABELS.native;

function deliveries(count: number): LabelRecord[] {
  return Array.from({ length: count }, (_, number) => record(number));
}

function dataBytes(record: LabelRecord): number {
  return Buffer.byteLength(Object.values(record).join(''));
}

test('a record of a native batch costs no more than twice its data and 40 bytes', async () => {
  const records = deliveries(1_000);
  const encoder = await openZpl(jobFor(delivery, records));
  const sent = [encoder.begin()];
  for (const [index, record] of records.entries()) {
    const label = await encoder.label(index, 1);
    expect(label.length).toBeLessThanOrEqual(2 * dataBytes(record) + 40);
    sent.push(label);
  }
  sent.push(encoder.end());
  const data = records.reduce((sum, record) => sum + dataBytes(record), 0);
  expect(Buffer.concat(sent).length).toBeLessThanOrEqual(2 * data + 40 * records.length);
});

/** Elements that are elsewhere, of another size, another kind or not there at all from one record to the next. */
const changing = design(120, 40, [
  { type: 'text', x: 2, y: 1, size: 3, text: 'Fixed' },
  { type: 'text', x: 2, y: 5, width: 40, height: 5, size: 5, text: '{{a}}', reverse: true },
  { type: 'text', x: 2, y: 12, width: 40, size: 4, text: '{{b}}', align: 'center' },
  { type: 'text', x: 2, y: 18, size: 4, text: '{{a}}', reverse: true },
  { type: 'text', x: 4, y: 18, size: 4, text: '{{b}}' },
  { type: 'text', x: 50, y: 2, width: 28, height: 14, size: 4, text: '{{c}}', overflow: 'wrap' },
  { type: 'barcode', symbology: 'ean13', x: 2, y: 24, height: 8, value: '{{ean}}', hri: 'below' },
  { type: 'barcode', symbology: 'code128', x: 42, y: 24, height: 8, module: 0.25, value: '{{b}}' },
  { type: 'box', x: 60, y: 34, width: 18, height: 5, filled: true },
  { type: 'text', x: 61, y: 35, size: 3, text: 'FIXED', reverse: true },
  { type: 'text', x: 55, y: 35, size: 4, text: '{{d}}' },
]);

const CHANGING: Record<'a' | 'b' | 'c' | 'd' | 'ean', string>[] = [
  { a: 'One', b: 'plain', c: 'a few words', ean: '4006381333931', d: 'x' },
  { a: 'Two', b: 'plain', c: 'a few words', ean: '4012345678901', d: 'y' },
  { a: 'Six', b: 'other', c: 'and others', ean: '4601234567893', d: 'z' },
  {
    a: 'Shrunk until it fits',
    b: 'wider than it',
    c: 'so many words that they need more lines',
    ean: '4006381333931',
    d: '',
  },
  { a: '', b: '', c: '', ean: '4006381333931', d: '' },
  { a: 'Жук', b: 'Ωμέγα', c: 'a 東京 b', ean: '4006381333931', d: 'Ж over white' },
  { a: 'One', b: 'é^XZ~JR_5E>', c: '>:\\&', ean: '4006381333931', d: 'under white' },
].map((record) => ({ ...record, b: record.b || ' ' }));

test('every record looks as if it were sent alone', async () => {
  const records = CHANGING.filter((record) => !/[^\0-\x7f]/.test(record.b)).concat(
    CHANGING.map((record) => ({ ...record, b: record.b.replace(/[^\0-\x7f]/g, '') || 'plain' })),
  );
  const batch = await openZpl(jobFor(changing, records));
  expect(Buffer.from(batch.begin()).toString()).toContain('^DFR:');
  let recalled = 0;
  for (const [index, record] of records.entries()) {
    const text = await labelText(batch, index);
    if (text.includes('^XFR:')) recalled++;
    const alone = await labelText(await openZpl(jobFor(changing, [record])));
    const [a, b] = [await drawZpl(text, 959, 320), await drawZpl(alone, 959, 320)];
    expect.soft(differingDots(await dotsOf(a), await dotsOf(b)), JSON.stringify(record)).toBe(0);
  }
  expect(recalled).toBeGreaterThan(records.length / 2);
  expect(recalled).toBeLessThan(records.length);
});

test('whatever the values, a label is one format that recalls, and of our commands', async () => {
  const value = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.constantFrom('^XZ', '~JR', '_5E', '日本'),
  );
  const ours = /^\^(?:XA|XF|FN|CI|MU|FW|PM|LR|LH|PW|LL|FO|FT|A0|FH|FD|FR|FS|GB|GF|BY|BC|BE|PQ|XZ)/;
  const source = design(100, 30, [
    { type: 'text', x: 2, y: 2, width: 90, height: 8, size: 4, text: 'a {{v}} b', overflow: 'clip' },
    {
      type: 'text',
      x: 2,
      y: 12,
      width: 90,
      height: 8,
      size: 4,
      text: '{{w}}',
      overflow: 'clip',
      // In the middle of its box, out of which no character reaches.
      valign: 'middle',
      reverse: true,
    },
  ]);
  const usual = Array.from({ length: 20 }, (_, n) => ({ v: `usual ${n}`, w: `usual ${n}` }));
  const printable = (text: string) => text.replace(/[^\x20-\x7e日本]/gu, '');
  await fc.assert(
    fc.asyncProperty(value.map(printable), value.map(printable), async (v, w) => {
      const encoder = await openZpl(jobFor(source, [...usual, { v, w }]));
      const text = Buffer.from(await encoder.label(20, 2)).toString();
      const found = text.split(/(?=[\^~])/).map((command) => command.slice(0, 3));
      expect(found.filter((command) => !ours.test(command))).toEqual([]);
      expect(found.filter((command) => command === '^XA' || command === '^XZ')).toEqual(['^XA', '^XZ']);
      expect(text).toMatch(/^[\x20-\x7e]*$/);
    }),
    { numRuns: 60 },
  );
});

describe('a stored format', () => {
  const names = (text: string) => [...text.matchAll(/\^(?:DF|XF|ID)R:(\w+)/g)].map((match) => match[1]);

  test('is named after its job, recalled by every label and deleted at the end', async () => {
    const records = deliveries(50);
    const jobs = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'];
    const found = [];
    for (const jobId of jobs) {
      const encoder = await openZpl({ ...jobFor(delivery, records), jobId });
      const [begin, label, end] = [encoder.begin(), await encoder.label(7, 1), encoder.end()].map(String);
      const own = names(`${begin}${label}${end}`);
      expect(own).toHaveLength(3);
      expect(new Set(own).size).toBe(1);
      expect(own[0]).toMatch(/^[A-Z][A-Z0-9]{5}$/);
      // Opened again, as after a crash, it is the same.
      expect(String((await openZpl({ ...jobFor(delivery, records), jobId })).begin())).toBe(begin);
      found.push(own[0]);
    }
    expect(new Set(found).size).toBe(2);
  });

  test('is not made for a few records, nor where the format forbids it', async () => {
    for (const job of [
      jobFor(delivery, deliveries(2)),
      {
        ...jobFor(delivery, deliveries(50)),
        format: { ...jobFor(delivery, []).format, storedFormats: false },
      },
    ]) {
      const encoder = await openZpl(job);
      expect([...encoder.begin(), ...encoder.end()]).toEqual([]);
      expect(String(await encoder.label(1, 1))).not.toMatch(/\^XF|\^FN/);
    }
  });

  test('is not held up by records that cannot be printed', async () => {
    const records = deliveries(20);
    records[0] = { ...records[0], name: 'x'.repeat(5_000) };
    const encoder = await openZpl(jobFor(delivery, records));
    expect(encoder.begin().length).toBeGreaterThan(0);
    await expect(encoder.label(0, 1)).rejects.toMatchObject({ fault: { code: 'does-not-fit', record: 0 } });
  });
});

test('a printer prints the batch without a fault, and forgets it afterwards', async () => {
  const outDir = await mkdtemp(join(tmpdir(), 'platen-stored-'));
  const printer = new VirtualZplPrinter({ name: 'stored', outDir, dpi: 203, width: 120, height: 40 });
  await printer.start();
  onTestFinished(async () => {
    await printer.stop();
    await rm(outDir, { recursive: true });
  });
  const printed: (readonly string[])[] = [];
  printer.on('label', ({ faults }) => printed.push(faults));
  const records = CHANGING.map((record) => ({ ...record, b: 'plain' }));
  const batch = await openZpl(jobFor(changing, records));
  const socket = createConnection(printer.port, '127.0.0.1');
  const send = async (bytes: Uint8Array, upTo: number) => {
    socket.write(bytes);
    while (printed.length < upTo) await once(printer, 'label');
  };
  socket.write(batch.begin());
  for (const index of records.keys()) await send(await batch.label(index, 2), 2 * (index + 1));
  expect(printed.flat()).toEqual([]);
  socket.write(batch.end());
  await send(await batch.label(0, 1), 2 * records.length + 1);
  expect(printed.at(-1)).toEqual([expect.stringContaining('does not exist')]);
  socket.destroy();
});
