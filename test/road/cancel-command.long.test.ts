/** `platen job cancel` on a running installation: a job of many labels is stopped while it prints. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jobView } from '../../src/contract/job.ts';
import { PlatenUp, platen } from '../kit/service/platen.ts';
import { useDirectory } from '../kit/service/use-directory.ts';

const directory = useDirectory();
let up: PlatenUp;
beforeAll(async () => {
  up = await PlatenUp.start({
    dataDir: join(directory.path, 'data'),
    args: ['--virtual', '1', '--virtual-speed', '20'],
  });
});
afterAll(() => up?.stop());

test('a job of 100,000 labels ends a few labels later, and the next one prints', async () => {
  const template = await up.admin.importTemplate('default', {
    name: 'Many',
    language: 'zpl',
    source: '^XA^FO20,20^A0N,40,40^FD{{sku}}^FS^XZ',
    fields: [{ name: 'sku' }],
  });
  const send = async (numberCopies: number) => {
    const request = { idT: template.id, printer: 'virtual-1', numberCopies, data: [{ sku: 'x' }] };
    return await up.admin.print('default', request);
  };
  const id = await send(100_000);
  await expect
    .poll(async () => (await up.admin.job(id)).labels.printed, { timeout: 30_000 })
    .toBeGreaterThan(2);
  const asked = await platen(['job', 'cancel', id, '--data', up.dataDir]);
  expect(asked).toMatchObject({ code: 0, stdout: expect.stringContaining('cancel-requested') });
  expect(asked.stdout).toContain(`platen job show ${id} --follow`);
  const followed = await platen([
    'job',
    'show',
    id,
    '--follow',
    '--timeout',
    '60',
    '--json',
    '--data',
    up.dataDir,
  ]);
  const job = jobView.parse(JSON.parse(followed.stdout));
  expect(job).toMatchObject({ status: 'canceled', reasons: [], uncertain: null, error: null });
  expect(job.labels.sent).toBe(job.labels.printed);
  expect(job.labels.printed).toBeLessThan(1_000);
  const next = await send(1);
  await expect.poll(async () => (await up.admin.job(next)).status, { timeout: 30_000 }).toBe('printed');
  expect(await platen(['job', 'cancel', id, '--data', up.dataDir])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the job is canceled'),
  });
});
