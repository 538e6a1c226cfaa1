/** The render threads, with a language that misbehaves where a test wants it to. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { RenderPool, type RenderPoolOptions, type RenderSession } from '../../src/rendering/render-pool.ts';
import { AHEAD } from '../../src/rendering/render-protocol.ts';
import { jobFor, logger, testDrivers } from '../kit/agent/site.ts';

const PRINTER = 'serial-0123456789abcdef';
const never = new AbortController().signal;
const pools: RenderPool[] = [];
afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.stop();
});

function startPool(more: Partial<RenderPoolOptions> = {}): RenderPool {
  const { languagesModule } = testDrivers;
  const pool = new RenderPool({ threads: 1, languagesModule, stuckMs: 30_000, logger, ...more });
  pools.push(pool);
  return pool;
}

/** `first+count n` for each chunk. */
async function drain(session: RenderSession): Promise<string[]> {
  const chunks: string[] = [];
  for (let chunk = await session.peek(never); chunk !== null; chunk = await session.peek(never)) {
    const text = Buffer.from(chunk.bytes).toString();
    if (chunk.count > 0) {
      chunks.push(
        `${chunk.first}+${chunk.count} ${/label (.*)\^FS\^PQ(\d+)/.exec(text)?.slice(1).join(' ')}`,
      );
    }
    session.taken();
  }
  session.close();
  return chunks;
}

test.each([false, true])(
  'labels in order, copies split, from any label on (checked first: %s)',
  async (check) => {
    const pool = startPool();
    const job = jobFor(PRINTER, ['a', 'b'], 10);
    const all = pool.open(job, { from: 0, maxCopies: 8 });
    const rest = pool.open(job, { from: 9, maxCopies: 8 });
    if (check) await all.check(never);
    expect(await drain(all)).toEqual(['0+8 a 8', '8+2 a 2', '10+8 b 8', '18+2 b 2']);
    expect(await drain(rest)).toEqual(['9+1 a 1', '10+8 b 8', '18+2 b 2']);
  },
);

test('more than a check can keep is made again, the same', async () => {
  const pool = startPool();
  // 500 bytes a label: twice what is kept.
  const job = jobFor(PRINTER, 20_000);
  const session = pool.open(job, { from: 0, maxCopies: 8 });
  await session.check(never);
  const chunks = await drain(session);
  expect(chunks).toHaveLength(20_000);
  expect(chunks.every((chunk, n) => chunk === `${n}+1 ${n} 1`)).toBe(true);
});

test('a fault names its record; what the language did not foresee tells nothing of the data', async () => {
  const pool = startPool();
  const bad = pool.open(jobFor(PRINTER, ['a', 'bad']), { from: 0, maxCopies: 8 });
  await expect(bad.check(never)).rejects.toMatchObject({
    fault: { code: 'value-invalid', record: 1, element: '/elements/0', field: 'n' },
  });
  bad.close();
  const thrown = pool.open(jobFor(PRINTER, ['throw']), { from: 0, maxCopies: 8 });
  await expect(thrown.check(never)).rejects.toMatchObject({
    fault: {
      code: 'internal',
      message: expect.not.stringContaining('secret'),
      reason: { code: 'rendering-failed' },
    },
  });
  thrown.close();
  const other = jobFor(PRINTER, 1);
  const pdf = pool.open(
    { ...other, format: { ...other.format, language: 'pdf' } },
    { from: 0, maxCopies: 8 },
  );
  await expect(pdf.check(never)).rejects.toMatchObject({ fault: { code: 'language-unsupported' } });
  pdf.close();
});

test('a thread that dies takes its jobs with it, and another takes its place', async () => {
  const pool = startPool();
  const innocent = pool.open(jobFor(PRINTER, AHEAD + 1), { from: 0, maxCopies: 8 });
  await innocent.check(never);
  const guilty = pool.open(jobFor(PRINTER, ['exit']), { from: 0, maxCopies: 8 });
  await expect(guilty.check(never)).rejects.toMatchObject({ name: 'RenderCrash' });
  guilty.close();
  // What the check has made is there all the same.
  for (let label = 0; label < AHEAD; label++) {
    expect(await innocent.peek(never)).toMatchObject({ first: label, count: 1 });
    innocent.taken();
  }
  await expect(innocent.peek(never)).rejects.toMatchObject({ name: 'RenderCrash' });
  innocent.close();
  const alone = pool.open(jobFor(PRINTER, 2), { from: 0, maxCopies: 8, alone: true });
  expect(await drain(alone)).toHaveLength(2);
  expect(await drain(pool.open(jobFor(PRINTER, 2), { from: 0, maxCopies: 8 }))).toHaveLength(2);
});

test('a thread that is stuck is replaced', async () => {
  // Longer than a thread takes to start on a busy machine.
  const pool = startPool({ stuckMs: 3_000 });
  const stuck = pool.open(jobFor(PRINTER, ['hang']), { from: 0, maxCopies: 8 });
  await expect(stuck.check(never)).rejects.toMatchObject({ name: 'RenderCrash' });
  stuck.close();
  expect(await drain(pool.open(jobFor(PRINTER, 2), { from: 0, maxCopies: 8 }))).toHaveLength(2);
});

test('what one tenant draws for ever holds up no other', async () => {
  const pool = startPool();
  const of = (tenantId: string, values: string[]) =>
    pool.open({ ...jobFor(PRINTER, values), tenantId }, { from: 0, maxCopies: 8 });
  const hanging = of('acme', ['hang']);
  const ended = hanging.check(never).catch((error: unknown) => error);
  const waiting = of('acme', ['a']);
  expect(pool.threads).toBe(1);
  const other = of('globex', ['b']);
  expect(pool.threads).toBe(2);
  expect(await drain(other)).toEqual(['0+1 b 1']);
  // Its own jobs stay together.
  const more = [of('acme', ['c']), of('globex', ['d'])];
  expect(pool.threads).toBe(2);
  await pool.stop();
  expect(await ended).toMatchObject({ name: 'RenderCrash' });
  for (const session of [hanging, waiting, ...more]) session.close();
});

test('a large check is not stuck, however long it takes', async () => {
  const pool = startPool({ stuckMs: 3_000 });
  const job = jobFor(
    PRINTER,
    Array.from({ length: 100 }, () => 'slow'),
  );
  const session = pool.open(job, { from: 0, maxCopies: 8 });
  await session.check(never);
  expect(await drain(session)).toHaveLength(100);
});

test.each(['tspl', 'epl'] as const)(
  'a large check makes the first labels only, and looks at all others: %s',
  async (language) => {
    const pool = startPool();
    const slow = Array.from({ length: 50 }, () => 'slow');
    const looking = (values: string[]) => {
      const job = jobFor(PRINTER, values, 2);
      return { ...job, format: { ...job.format, language } };
    };
    const bad = pool.open(looking([...slow, 'good', 'bad']), { from: 0, maxCopies: 8 });
    await expect(bad.check(never)).rejects.toMatchObject({
      fault: { code: 'value-invalid', element: '/elements/0' },
    });
    bad.close();
    // What fails in the making alone was not made.
    const session = pool.open(looking([...slow, 'throw']), { from: 0, maxCopies: 8 });
    await session.check(never);
    for (let one = 0; one < 50; one++) {
      expect(await session.peek(never)).toMatchObject({ first: 2 * one, count: 2 });
      session.taken();
    }
    await expect(session.peek(never)).rejects.toMatchObject({ fault: { code: 'internal' } });
    session.close();
  },
);

test('an abort ends the waiting, not the thread', async () => {
  const pool = startPool();
  const session = pool.open(jobFor(PRINTER, 20_000), { from: 0, maxCopies: 8 });
  const abort = new AbortController();
  const checking = session.check(abort.signal);
  abort.abort(new Error('enough'));
  await expect(checking).rejects.toThrow('enough');
  session.close();
  expect(await drain(pool.open(jobFor(PRINTER, 2), { from: 0, maxCopies: 8 }))).toHaveLength(2);
});

test('threads come with jobs, no more than there may be, and go when none needs them', async () => {
  const pool = startPool({ threads: 2, idleMs: 1 });
  expect(pool.threads).toBe(0);
  const sessions = ['a', 'b', 'c'].map((n) => pool.open(jobFor(PRINTER, [n]), { from: 0, maxCopies: 8 }));
  expect(pool.threads).toBe(2);
  expect(await Promise.all(sessions.map(drain))).toEqual([['0+1 a 1'], ['0+1 b 1'], ['0+1 c 1']]);
  await vi.waitFor(() => expect(pool.threads).toBe(0), 15_000);
  expect(await drain(pool.open(jobFor(PRINTER, ['d']), { from: 0, maxCopies: 8 }))).toEqual(['0+1 d 1']);
  await vi.waitFor(() => expect(pool.threads).toBe(0), 15_000);
});

test('a thread that a job has come back to in time is kept', async () => {
  const pool = startPool({ idleMs: 200 });
  const open = (n: string) => pool.open(jobFor(PRINTER, [n]), { from: 0, maxCopies: 8 });
  await drain(open('a'));
  const slow = open('b');
  // Longer than it is kept without one.
  await pause(400);
  expect(await drain(slow)).toEqual(['0+1 b 1']);
});
