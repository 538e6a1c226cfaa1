/** `platen up --sandbox`, as an integrator with a test key uses it: each outcome on request, and no real printer. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Platen } from '../../clients/javascript/platen.js';
import { PlatenUp, platen } from '../kit/service/platen.ts';
import { useDirectory } from '../kit/service/use-directory.ts';

const directory = useDirectory();
let up: PlatenUp;
let idT: string;
beforeAll(async () => {
  const args = ['--virtual', '1', '--virtual-speed', '100', '--sandbox'];
  up = await PlatenUp.start({ dataDir: join(directory.path, 'data'), args });
  ({ id: idT } = await up.admin.importTemplate('default', {
    name: 'Trial',
    width: 50,
    height: 25,
    elements: [{ type: 'text', x: 2, y: 2, width: 46, height: 5, text: 'trial', size: 3 }],
  }));
});
afterAll(() => up?.stop());

async function done(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await platen([...args, '--data', up.dataDir]);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

test('each outcome is had by the name of a printer, and the job says that it is a test', async () => {
  const account = JSON.parse(await done('integration', 'create', '--name', 'trial', '--test', '--json'));
  expect(account).toMatchObject({ test: true });
  expect(await done('integration', 'list')).toMatch(/trial +test +jobs:enqueue/);
  const client = new Platen(account);
  const ended = async (printer: string, numberCopies: number) => {
    const id = await client.print({ idT, printer, numberCopies });
    return await up.ended(id);
  };
  expect(await ended('test-printed', 2)).toMatchObject({
    status: 'printed',
    test: true,
    labels: { printed: 2 },
  });
  expect(await ended('test-failed', 2)).toMatchObject({
    ...{ status: 'failed', test: true, labels: { printed: 0 } },
    error: { code: 'printer-refused' },
  });
  expect(await ended('test-held', 2)).toMatchObject({
    ...{ status: 'held', test: true, labels: { printed: 0 }, uncertain: { from: 0, to: 2 } },
    error: { code: 'outcome-unknown' },
  });
  // Slow: it is under way until somebody cancels it, and no label has to be waited for.
  const slow = await client.print({ idT, printer: 'test-slow', numberCopies: 50 });
  await expect.poll(async () => (await client.job(slow)).status, { timeout: 60_000 }).toBe('printing');
  await up.admin.cancelJob(slow);
  expect((await done('jobs')).match(/^\S+ +\w+ \(test\) /gm)).toHaveLength(4);
});
