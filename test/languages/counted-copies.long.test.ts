/** Copies with a counter: each is a label of its own, in every language, wherever a job is resumed. */
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openEncoder } from '../../drivers/languages/index.ts';
import { standardDrivers } from '../../src/agent/drivers.ts';
import { languageId } from '../../src/contract/format.ts';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import { rawZplTemplate, type Template } from '../../src/contract/template.ts';
import { createRecordCheck } from '../../src/render/check.ts';
import { copiesDiffer } from '../../src/render/template-fields.ts';
import { planChunks, planDocuments } from '../../src/rendering/chunk-plan.ts';
import { RenderPool } from '../../src/rendering/render-pool.ts';
import { logger } from '../kit/agent/site.ts';
import { design, drawPdf, drawZpl, jobFor, readSymbols } from '../kit/judges/judges.ts';

const WIDTH = 400;
const HEIGHT = 200;
const SAYS = '{{box}}-{{$copy}}/{{$copies}}-{{$label}}/{{$labels}}';
const designed = design(
  50,
  25,
  [
    { type: 'barcode', symbology: 'qr', x: 2, y: 2, value: SAYS, module: 0.5 },
    { type: 'text', x: 24, y: 4, size: 4, text: 'Box {{$copy}}' },
    { type: 'text', x: 24, y: 12, size: 4, text: 'last', when: '{{$copy | equals:3}}' },
  ],
  [{ name: 'box' }],
);
const raw = rawZplTemplate.parse({
  name: 'Raw',
  language: 'zpl',
  source: `^XA^FO20,20^BQN,2,4^FDMA,${SAYS}^FS^PQ1,0,0,N^XZ`,
  width: 50,
  height: 25,
  dpi: 203,
});
const same = design(50, 25, [{ type: 'text', x: 2, y: 2, size: 4, text: 'Box {{$record}} of {{$copies}}' }]);

function counting(template: Template, options: Parameters<typeof jobFor>[2] = {}): QueuedJob {
  const job = jobFor(template, [{ box: 'A' }, { box: 'B' }], options);
  return { ...job, copies: 3, format: { ...job.format, width: 50, height: 25 } };
}

const READ = ['A-1/3-1/6', 'A-2/3-2/6', 'A-3/3-3/6', 'B-1/3-4/6', 'B-2/3-5/6', 'B-3/3-6/6'];

/** The chunks of a job from a label on, as the agent has them made. */
async function chunksOf(job: QueuedJob, from: number, documents = false) {
  const { languagesModule } = standardDrivers;
  const pool = new RenderPool({ threads: 1, languagesModule, stuckMs: 30_000, logger });
  onTestFinished(() => pool.stop());
  const never = new AbortController().signal;
  const session = pool.open(job, { from, maxCopies: 8, documents });
  const chunks = [];
  for (let chunk = await session.peek(never); chunk !== null; chunk = await session.peek(never)) {
    chunks.push(chunk);
    session.taken();
  }
  session.close();
  return chunks;
}

async function symbolOn(png: Uint8Array): Promise<string | undefined> {
  return (await readSymbols(png, { formats: ['QRCode'] }))[0]?.text;
}

describe.each([
  { kind: 'designed', template: designed },
  { kind: 'raw', template: raw },
])('$kind', ({ template }) => {
  test.each([0, 2, 4])('each label says its own numbers, from label %i on', async (from) => {
    const chunks = await chunksOf(counting(template), from);
    expect(chunks.map(({ first, count }) => [first, count])).toEqual(
      READ.slice(from).map((_, at) => [from + at, 1]),
    );
    const read = [];
    for (const { bytes } of chunks) {
      const zpl = Buffer.from(bytes).toString();
      expect(zpl).not.toMatch(/\^PQ(?!1\b)/);
      read.push(await symbolOn(await drawZpl(zpl, WIDTH, HEIGHT)));
    }
    expect(read).toEqual(READ.slice(from));
  });

  test('documents have them too', async () => {
    const [document, ...more] = await chunksOf(counting(template, { language: 'pdf' }), 1, true);
    expect(more).toEqual([]);
    expect(document).toMatchObject({ first: 1, count: 5 });
    const read = [];
    for (let page = 1; page <= 5; page++) {
      read.push(await symbolOn(await drawPdf(document?.bytes ?? new Uint8Array(), 203, page)));
    }
    expect(read).toEqual(READ.slice(1));
  });

  test.each(languageId.options)('%s: no label is a copy of another', async (language) => {
    const encoder = await openEncoder(counting(template, { language }));
    const labels = [];
    for (const copy of [0, 1, 2])
      labels.push(Buffer.from(await encoder.label(1, 1, copy)).toString('base64'));
    expect(new Set(labels).size).toBe(3);
    expect(Buffer.from(await encoder.label(1, 1, 2)).toString('base64')).toBe(labels[2]);
  });
});

test('what does not count is copied by the printer', async () => {
  expect([designed, raw, same].map(copiesDiffer)).toEqual([true, true, false]);
  const [chunk] = await chunksOf(counting(same), 1);
  expect(chunk).toMatchObject({ first: 1, count: 2 });
  expect(Buffer.from(chunk?.bytes ?? []).toString()).toContain('^PQ2');
});

test('a format is stored for many copies of one record too', async () => {
  const job = { ...counting(designed), copies: 200, records: [{ box: 'A' }] };
  const encoder = await openEncoder(job);
  expect(Buffer.from(encoder.begin()).toString()).toContain('^DF');
  const last = Buffer.concat([encoder.begin(), await encoder.label(0, 1, 199)]).toString();
  expect(last).toContain('^XF');
  expect(await symbolOn(await drawZpl(last, WIDTH, HEIGHT))).toBe('A-200/200-200/200');
});

test('a number that has no room is told before anything is printed', async () => {
  const text = { type: 'text', x: 0, y: 0, width: 1.5, height: 4, size: 4, text: '{{$copy}}' };
  const job = { createdAt: '2026-11-21T00:00:00.000Z', records: [{}] };
  const check = (copies: number) =>
    createRecordCheck(design(50, 25, [text]), { dpi: 203, orientation: 'portrait', job: { ...job, copies } });
  await expect(check(9).then((record) => record({}, 0))).resolves.toBeUndefined();
  await expect(check(90_000).then((record) => record({}, 0))).rejects.toThrow('does not fit');
});

test('a plan has every label once, wherever it starts, and documents of whole pages', () => {
  const plans = fc.record({
    records: fc.integer({ min: 1, max: 9 }),
    copies: fc.integer({ min: 1, max: 9 }),
    from: fc.integer({ min: 0, max: 80 }),
    copiesDiffer: fc.boolean(),
    most: fc.integer({ min: 1, max: 9 }),
    perPage: fc.integer({ min: 1, max: 12 }),
  });
  fc.assert(
    fc.property(plans, ({ records, most, perPage, ...job }) => {
      const labels = { ...job, upTo: records * job.copies };
      const documents = [...planDocuments(labels, most, perPage)];
      for (const chunks of [[...planChunks(labels, most)], documents.flat()]) {
        let next = job.from;
        for (const { record, copy, first, count } of chunks) {
          expect({ record, copy }).toEqual({
            record: Math.floor(first / job.copies),
            copy: first % job.copies,
          });
          expect(first).toBe(next);
          expect(count).toBeLessThanOrEqual(
            job.copiesDiffer ? 1 : Math.min(Math.max(most, perPage), job.copies - copy),
          );
          next += count;
        }
        expect(next).toBe(Math.max(job.from, labels.upTo));
      }
      const sizes = documents.map((document) => document.reduce((sum, { count }) => sum + count, 0));
      for (const size of sizes) expect(size).toBeLessThanOrEqual(Math.max(most, perPage));
      for (const size of sizes.slice(0, -1)) expect(size % perPage).toBe(0);
    }),
  );
});
