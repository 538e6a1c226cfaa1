/** Rendering is off the thread that keeps the queue's locks, so it never holds that thread up. */
import { expect, onTestFinished, test } from 'vitest';
import { standardDrivers } from '../../src/agent/drivers.ts';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import { template } from '../../src/contract/template.ts';
import { RenderPool } from '../../src/rendering/render-pool.ts';
import { jobFor, logger } from '../kit/agent/site.ts';

const never = new AbortController().signal;
const RECORDS = 10_000;
/** A lease is asked for again seconds before it ends. */
const LIMIT_MS = 250;

test(`rendering ${RECORDS} records never holds up the main thread for ${LIMIT_MS} ms`, async () => {
  const pool = new RenderPool({
    threads: 1,
    languagesModule: standardDrivers.languagesModule,
    stuckMs: 60_000,
    logger,
  });
  onTestFinished(() => pool.stop());
  const job: QueuedJob = {
    ...jobFor('serial-0123456789abcdef', RECORDS),
    template: template.parse({
      name: 'Large',
      width: 100,
      height: 50,
      fields: [{ name: 'n' }],
      elements: [
        { type: 'text', x: 3, y: 3, size: 4, text: 'Sample {{n}}' },
        { type: 'barcode', symbology: 'code128', x: 3, y: 10, height: 8, value: 'N{{n}}', hri: 'below' },
        // Drawn, not native: a thousand times the work of a text in the printer's font.
        { type: 'barcode', symbology: 'datamatrix', x: 70, y: 10, value: 'SAMPLE {{n}}' },
      ],
    }),
  };
  const [started, before] = [process.cpuUsage(), cpuMs()];
  // What a turn of the loop costs in the thread's own time, which a busy machine does not add to.
  let last = before;
  let longest = 0;
  const sampler = setInterval(() => {
    const now = cpuMs();
    longest = Math.max(longest, now - last);
    last = now;
  }, 1);
  const session = pool.open(job, { from: 0, maxCopies: 8 });
  await session.check(never);
  let labels = 0;
  for (let chunk = await session.peek(never); chunk !== null; chunk = await session.peek(never)) {
    labels += chunk.count;
    session.taken();
  }
  session.close();
  clearInterval(sampler);
  const { user, system } = process.cpuUsage(started);
  expect(labels).toBe(RECORDS);
  expect(longest).toBeLessThan(LIMIT_MS);
  // All that it does itself is to hand the job over and to take the labels.
  expect(cpuMs() - before).toBeLessThan((user + system) / 1_000 / 4);
}, 60_000);

/** Processor time of this thread, ms: the system counts it in steps of some ms. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
