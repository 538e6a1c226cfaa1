/**
 * SIGKILL at any moment: no acknowledged job is lost, and no label comes out twice. Each label carries a number in
 * a DataMatrix; what the virtual printer has printed in its life is compared with what was acknowledged.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { barcodesIn } from '../kit/judges/pictures.ts';
import { Integrator, PlatenUp, refusedUp, temporaryDirectory } from '../kit/service/platen.ts';
import { smallLabel } from '../kit/service/small-label.ts';

const CODE = { type: 'barcode', symbology: 'datamatrix', x: 4, y: 4, value: '{{number}}', module: 0.75 };
const TEMPLATE = smallLabel('numbered', ['number'], [CODE]);
/** Fast enough for a test, slow enough that a kill finds labels under way. */
const UP = ['--virtual-speed', '20'];

/** Processes that have the directory in their command line or as working directory. */
function processesOf(directory: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return pid !== process.pid && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(directory);
      } catch {
        return false;
      }
    });
}

function picturesIn(directory: string): number {
  return readdirSync(directory).filter((file) => file.endsWith('.png')).length;
}

async function until(condition: () => boolean, timeoutMs: number): Promise<void> {
  const signal = AbortSignal.timeout(timeoutMs);
  while (!condition()) await pause(50, undefined, { signal });
}

describe('a kill', () => {
  // How many labels the printer has put out when it comes.
  test.each([0, 3, 11])(
    'after %i labels loses no acknowledged job and doubles no label',
    async (labelsBefore) => {
      await using directory = await temporaryDirectory();
      let up = await PlatenUp.start({ dataDir: directory.path, args: UP });
      const { id } = await up.admin.importTemplate('default', TEMPLATE);
      const integrator = await Integrator.make(up);

      const acknowledged: { jobId: string; numbers: string[] }[] = [];
      const unanswered: string[][] = [];
      let killed = false;
      const poster = (async () => {
        for (let job = 0; !killed && job < 10; job++) {
          const numbers = Array.from({ length: 3 }, (_, index) => `${job}-${index}`);
          try {
            const jobId = await integrator.post({
              idT: id,
              printer: 'virtual-1',
              data: numbers.map((number) => ({ number })),
            });
            acknowledged.push({ jobId, numbers });
          } catch (error) {
            if (!killed) throw error;
            unanswered.push(numbers);
          }
        }
      })();
      const printer = `${directory.path}/printed/virtual-1`;
      await until(() => acknowledged.length > 0 && picturesIn(printer) >= labelsBefore, 30_000);
      killed = true;
      await up.kill();
      await poster;
      expect(acknowledged.length).toBeGreaterThan(0);

      // No database process is left behind for longer than a few seconds.
      await until(() => processesOf(directory.path).length === 0, 8_000);

      up = await PlatenUp.start({ dataDir: directory.path, args: UP });
      try {
        const known = new Set((await up.admin.jobs({ limit: 1000 })).map((job) => job.id));
        for (const { jobId } of acknowledged) expect(known.has(jobId)).toBe(true);
        for (const jobId of known) {
          expect(await up.ended(jobId, 120_000)).toMatchObject({
            status: 'printed',
            error: null,
            labels: { printed: 3 },
          });
        }
        const printed: string[] = [];
        for (const picture of await up.pictures()) {
          const symbols = await barcodesIn(picture);
          expect(symbols).toHaveLength(1);
          printed.push(symbols[0]?.text ?? '');
        }
        expect(new Set(printed).size, 'a label was printed twice').toBe(printed.length);
        for (const number of acknowledged.flatMap(({ numbers }) => numbers))
          expect(printed).toContain(number);
        // A job whose answer was cut off may be there or not, but never in part.
        for (const numbers of unanswered)
          expect([0, 3]).toContain(numbers.filter((one) => printed.includes(one)).length);
      } finally {
        await up.stop();
      }
    },
  );

  test('right after the answer loses nothing: the same key and body get the same job after the restart', async () => {
    await using directory = await temporaryDirectory();
    let up = await PlatenUp.start({ dataDir: directory.path, args: UP });
    const { id } = await up.admin.importTemplate('default', TEMPLATE);
    const integrator = await Integrator.make(up);
    const request = { idT: id, printer: 'virtual-1', data: [{ number: 'once' }] };
    const key = randomUUID();
    const jobId = await integrator.post(request, key);
    await up.kill();

    up = await PlatenUp.start({ dataDir: directory.path, args: UP });
    try {
      const again = await Integrator.make(up);
      expect(await again.post(request, key)).toBe(jobId);
      expect(await up.ended(jobId)).toMatchObject({ status: 'printed', labels: { total: 1, printed: 1 } });
      expect(await up.pictures()).toHaveLength(1);
    } finally {
      await up.stop();
    }
  });
});

test('a second "up" on the same directory is refused, and the first goes on', async () => {
  await using directory = await temporaryDirectory();
  const up = await PlatenUp.start({ dataDir: directory.path });
  try {
    const { code, output } = await refusedUp({ dataDir: directory.path });
    expect(code).toBe(1);
    expect(output).toMatch(/in use by Platen process \d+/);
    expect(await up.admin.tenants()).toHaveLength(1);
  } finally {
    expect(await up.stop()).toBe(0);
  }
  expect(processesOf(directory.path)).toEqual([]);
  expect(existsSync(`${directory.path}/service.json`)).toBe(true);
});

test('when the embedded database dies, "up" starts it again and goes on', async () => {
  await using directory = await temporaryDirectory();
  const up = await PlatenUp.start({ dataDir: directory.path, args: UP });
  try {
    const { id } = await up.admin.importTemplate('default', TEMPLATE);
    const integrator = await Integrator.make(up);
    const request = { idT: id, printer: 'virtual-1', data: [{ number: 'before' }, { number: 'after' }] };
    const [postmaster] = readFileSync(`${directory.path}/postgres/data/postmaster.pid`, 'utf8').split('\n');
    process.kill(Number(postmaster), 'SIGKILL');
    const key = randomUUID();
    let jobId: string | undefined;
    await expect
      .poll(
        async () => {
          jobId = await integrator.post(request, key).catch(() => undefined);
          return jobId;
        },
        { timeout: 30_000 },
      )
      .toBeDefined();
    expect(await up.ended(jobId ?? '')).toMatchObject({ status: 'printed', labels: { printed: 2 } });
    expect(await up.pictures()).toHaveLength(2);
    expect(up.output).toMatch(/the embedded PostgreSQL ended; it is started again/);
  } finally {
    expect(await up.stop()).toBe(0);
  }
  expect(processesOf(directory.path)).toEqual([]);
});

test('when it cannot be started again, "up" ends and says why', async () => {
  await using directory = await temporaryDirectory();
  const up = await PlatenUp.start({ dataDir: directory.path });
  const data = `${directory.path}/postgres/data`;
  const [postmaster] = readFileSync(`${data}/postmaster.pid`, 'utf8').split('\n');
  rmSync(`${data}/global/pg_control`);
  const ended = up.exited();
  process.kill(Number(postmaster), 'SIGKILL');
  expect(await ended).toBe(1);
  expect(up.output).toMatch(/^platen: The embedded PostgreSQL is lost: .*pg_control/m);
});
