/** Labels that are compiled once for many jobs print the same as labels that are compiled for each job. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { openEncoder } from '../../drivers/languages/index.ts';
import { standardDrivers } from '../../src/agent/drivers.ts';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import { keptLabel } from '../../src/render/output/kept-labels.ts';
import { RenderPool } from '../../src/rendering/render-pool.ts';
import { logger } from '../kit/agent/site.ts';
import { design, jobFor } from '../kit/judges/judges.ts';

const job = { createdAt: '2026-11-21T10:00:00.000Z', copies: 1, records: { length: 1 } };
const target = { dpi: 203, orientation: 'portrait', job } as const;
const text = (says: string) => ({ type: 'text', x: 2, y: 2, size: 4, text: says });
const bars = { type: 'barcode', symbology: 'qr', x: 2, y: 8, value: '{{no}}', module: 0.5 };
const fields = [{ name: 'no' }];

describe('compiled', () => {
  test('once for a template and a target', async () => {
    const template = design(50, 25, [text('No {{no}}'), bars], fields);
    const first = await keptLabel(template, target);
    expect(await keptLabel(template, { ...target, job: { ...job, copies: 7 } })).toBe(first);
    for (const other of [{ dpi: 300 }, { orientation: 'landscape' } as const]) {
      expect(await keptLabel(template, { ...target, ...other })).not.toBe(first);
    }
    expect(await keptLabel(structuredClone(template), target)).not.toBe(first);
  });

  test.each([
    ['says something of its job', [text('{{ $today }} {{no}}')]],
    ['says it behind a line end', [text('{{\n$today}} {{no}}')]],
    ['is printed on a condition of its job', [{ ...text('first'), when: '{{$label | equals:1}}' }]],
  ])('for each job, when it %s', async (_why, elements) => {
    const template = design(80, 80, elements, fields);
    expect(await keptLabel(template, target)).not.toBe(await keptLabel(template, target));
  });
});

test('a thread prints every job with its own template and its own time, whatever it keeps', async () => {
  const { languagesModule } = standardDrivers;
  const pool = new RenderPool({ threads: 1, languagesModule, stuckMs: 30_000, logger });
  onTestFinished(() => pool.stop());
  const never = new AbortController().signal;
  const made = async (one: QueuedJob) => {
    const session = pool.open(one, { from: 0, maxCopies: 8 });
    const parts = [];
    for (let chunk = await session.peek(never); chunk !== null; chunk = await session.peek(never)) {
      parts.push(Buffer.from(chunk.bytes));
      session.taken();
    }
    session.close();
    return Buffer.concat(parts).toString();
  };
  // More than a thread keeps.
  const templates = Array.from({ length: 20 }, (_, at) =>
    design(
      100,
      50,
      [text(`Template ${at}: {{no}}`), bars, ...(at % 2 === 0 ? [] : [text('{{$now}}')])],
      fields,
    ),
  );
  const rounds = [
    templates.slice(0, 5),
    templates.slice(0, 5),
    templates.slice(0, 5),
    templates,
    templates.toReversed(),
  ];
  const jobs = rounds.flatMap((some, round) =>
    some.map((template) => ({
      ...jobFor(template, [{ no: `${round}` }]),
      // As the queue hands it out: the same object.
      template,
      createdAt: `2026-11-21T10:00:0${round}.000Z`,
    })),
  );
  for (const one of jobs) {
    const encoder = await openEncoder({ ...one, template: structuredClone(one.template) });
    const label = await encoder.label(0, 1, 0);
    const alone = Buffer.concat([encoder.begin(), label, encoder.end()]).toString();
    expect(await made(one)).toBe(alone);
  }
});
