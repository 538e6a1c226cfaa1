/** What an operator does on the command line to jobs and printers, at a running installation. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { jobView } from '../../src/contract/job.ts';
import { jobBulkResult } from '../../src/contract/job-actions.ts';
import { printerDetails } from '../../src/contract/printer-actions.ts';
import { barcodesIn, textIn } from '../kit/judges/pictures.ts';
import { configureMutePrinter, MUTE } from '../kit/service/mute-printer.ts';
import { PlatenUp, platen } from '../kit/service/platen.ts';
import { useDirectory } from '../kit/service/use-directory.ts';

const made = z.object({ id: z.string() });

const directory = useDirectory();
let up: PlatenUp;
let idT: string;
beforeAll(async () => {
  const config = await configureMutePrinter(directory.path);
  up = await PlatenUp.start({
    dataDir: join(directory.path, 'data'),
    args: ['--virtual', '2', '--agent-config', config],
    env: { PLATEN_IPP: 'true' },
  });
  await up.printerOnline(MUTE);
  const template = await up.admin.importTemplate('default', {
    name: 'Bin',
    width: 60,
    height: 30,
    fields: [{ name: 'number' }],
    elements: [{ type: 'barcode', symbology: 'qr', x: 3, y: 3, value: '{{number}}', module: 0.75 }],
  });
  idT = template.id;
});
afterAll(() => up?.stop());

const run = (...args: string[]) => platen([...args, '--data', up.dataDir]);
async function json<T>(schema: z.ZodType<T>, ...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await run(...args, '--json');
  expect([code, stderr]).toEqual([0, '']);
  return schema.parse(JSON.parse(stdout));
}
const print = (printer: string, ...numbers: string[]) =>
  up.admin.print('default', { idT, printer, data: numbers.map((number) => ({ number })) });
const status = async (id: string) => (await up.admin.job(id)).status;
/** The agent hears of a hold with its next lease, within 4 s. */
const heard = (times: number) =>
  expect.poll(() => up.output.split('the printer is held').length - 1, { timeout: 30_000 }).toBe(times);
const audited = async () => (await up.admin.auditPage({ limit: 50 })).entries;

test('labels of a job that is over are printed again, and the new job names the old one', async () => {
  const old = await print('virtual-1', '1001', '1002', '1003', '1004');
  await up.ended(old);
  const before = (await up.pictures()).length;
  const { id } = await json(made, 'job', 'reprint', old, '--labels', '2,4-4', '--why', 'torn');
  expect(await up.ended(id)).toMatchObject({ status: 'printed', labels: { total: 2 } });
  const pictures = (await up.pictures()).slice(before);
  const codes = await Promise.all(pictures.map((one) => barcodesIn(one)));
  expect(codes.flat().map(({ text }) => text)).toEqual(['1002', '1004']);
  const elsewhere = (await run('job', 'reprint', old, '--printer', 'virtual-2')).stdout.trim();
  expect(await up.ended(elsewhere)).toMatchObject({ labels: { total: 4 }, printer: { name: 'virtual-2' } });
  expect(await audited()).toContainEqual(
    expect.objectContaining({
      what: 'job.reprint',
      object: old,
      details: { reprint: id },
      who: { kind: 'machine', id: 'admin-token', name: 'admin token' },
    }),
  );
  for (const labels of ['5', '0', 'x', '3-2', '']) {
    const refused = await run('job', 'reprint', old, '--labels', labels);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('labels from 1 to 4')]);
  }
});

test('a printer is held, its jobs are moved in one go, and the printer is resumed', async () => {
  const held = await run('printer', 'hold', 'virtual-1', '--why', 'new ribbon');
  expect(held).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/held by admin since .*: new ribbon/),
  });
  await heard(1);
  const jobs = [
    await print('virtual-1', '2001'),
    await print('virtual-1', '2002'),
    await print('virtual-1', '2003'),
  ];
  await expect.poll(() => status(jobs[2] ?? '')).toBe('queued');

  const preview = await run(
    'job',
    'move',
    '--printer',
    'virtual-1',
    '--status',
    'queued',
    '--to',
    'virtual-2',
  );
  expect(preview.code).toBe(1);
  expect(preview.stdout.match(/would be done/g)).toHaveLength(3);
  expect(preview.stderr).toContain('Nothing is done yet; with --yes move is done to these 3 jobs.');
  expect(await Promise.all(jobs.map(status))).toEqual(['queued', 'queued', 'queued']);

  const [first = '', ...others] = jobs;
  const moved = await json(jobView, 'job', 'move', first, '--to', 'virtual-2');
  expect(moved).toMatchObject({ id: first, printer: { name: 'virtual-2' } });
  const rest = await json(jobBulkResult, 'job', 'move', ...others, '--to', 'virtual-2', '--yes');
  expect(rest.jobs.map(({ id, outcome }) => [id, outcome])).toEqual(others.map((id) => [id, 'done']));
  for (const id of jobs)
    expect(await up.ended(id)).toMatchObject({ status: 'printed', printer: { name: 'virtual-2' } });
  expect(await run('printer', 'resume', 'virtual-1')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('not held  0 waiting'),
  });
  await expect.poll(() => up.output, { timeout: 30_000 }).toContain('the printer is not held any more');
  const deeds = (await audited()).map(({ what }) => what);
  expect(deeds).toEqual(expect.arrayContaining(['printer.hold', 'job.move', 'jobs.bulk', 'printer.resume']));
  const again = await run('job', 'move', first, '--to', 'virtual-1');
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('the job is printed')]);
});

test('what waits for a printer is canceled when that is said, and not before', async () => {
  await run('printer', 'hold', 'virtual-1');
  await heard(2);
  const jobs = [await print('virtual-1', '3001'), await print('virtual-1', '3002')];
  const preview = await run('printer', 'clear', 'virtual-1');
  expect([preview.code, preview.stdout.match(/would be done/g)?.length]).toEqual([1, 2]);
  expect(await Promise.all(jobs.map(status))).toEqual(['queued', 'queued']);
  const cleared = await json(jobBulkResult, 'printer', 'clear', 'virtual-1', '--yes', '--why', 'wrong batch');
  expect(cleared).toMatchObject({ dryRun: false, more: false });
  expect(await Promise.all(jobs.map(status))).toEqual(['canceled', 'canceled']);
  expect(await run('printer', 'clear', 'virtual-1')).toMatchObject({
    code: 0,
    stdout: 'There is no such job.\n',
  });
  await run('printer', 'resume', 'virtual-1');
});

test('held jobs are decided together, and one that cannot be is named', async () => {
  const jobs = [await print(MUTE, '4001', '4002'), await print(MUTE, '4003')];
  const over = await print('virtual-2', '4004');
  for (const id of [...jobs, over]) await up.ended(id);
  expect(await Promise.all(jobs.map(status))).toEqual(['held', 'held']);
  const unsaid = await run('job', 'release', ...jobs);
  expect([unsaid.code, unsaid.stderr]).toEqual([2, expect.stringContaining('Say one of')]);
  const mixed = await run('job', 'release', ...jobs, over, '--skip-uncertain', '--why', 'all there', '--yes');
  expect([mixed.code, mixed.stdout]).toEqual([1, expect.stringContaining('refused: the job is printed')]);
  expect(mixed.stderr).toContain('It could not be done to 1 of 3 jobs.');
  expect(await Promise.all(jobs.map(status))).toEqual(['printed', 'printed']);
  const nothing = await run('job', 'cancel', '--status', 'held');
  expect([nothing.code, nothing.stderr]).toEqual([1, expect.stringContaining('There is no job')]);
});

test('a printer gets another name, and back; jobs are sent to either', async () => {
  const named = await json(z.object({ name: z.string() }), 'printer', 'rename', 'virtual-2', 'Packing');
  expect(named.name).toBe('Packing');
  await up.ended(await print('Packing', '5001'));
  await up.ended(await print('virtual-2', '5002'));
  expect((await run('printer', 'rename', 'Packing')).stdout).toContain('  virtual-2  ');
});

test('a printer is set, for the jobs from then on, and as it was again', async () => {
  const lines = async (...settings: string[]) =>
    (await run('printer', 'set', 'virtual-2', ...settings)).stdout;
  expect(await lines()).toMatch(/^darkness +as it is +a number from 0 to 30$/m);
  const before = await up.ended(await print('virtual-2', '5101'));
  expect(await lines('darkness=12.5', 'label-top=-8')).toMatch(/^label-top +-8 /m);
  const set = await up.ended(await print('virtual-2', '5101'));
  expect([before.status, set.status]).toEqual(['printed', 'printed']);
  expect(await lines('label-top=')).toMatch(/^label-top +as it is /m);
  const kept = await json(z.object({ darkness: z.number() }).strict(), 'printer', 'set', 'virtual-2');
  expect(kept).toEqual({ darkness: 12.5 });
  for (const [wrong, says] of [
    ['darkness=31', 'darkness: expected a number from 0 to 30, got 31'],
    [
      'print-mode=fold',
      'print-mode: expected one of tear-off, peel-off, rewind, applicator, cutter, got fold',
    ],
    ['darknes=3', 'did you mean darkness?'],
    ['darkness', 'one of darkness, '],
  ] as const) {
    expect(await run('printer', 'set', 'virtual-2', wrong)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(says),
    });
  }
  expect(await lines('darkness=')).toMatch(/^darkness +as it is /m);
  const deeds = (await audited()).filter(({ what }) => what === 'printer.set');
  expect(deeds).toHaveLength(3);
});

test('a hidden printer is not listed with the others, prints what names it, and is shown again', async () => {
  expect((await run('printer', 'hide', 'virtual-2')).stdout).toContain('  hidden, not held  ');
  const { stdout } = await run('printers');
  expect(stdout).toContain('Hidden: 1.');
  expect(stdout).toContain('virtual-1');
  expect(stdout).not.toContain('virtual-2');
  expect((await run('printers', '--hidden')).stdout).toContain('virtual-2');
  await up.ended(await print('virtual-2', '5003'));
  expect((await run('printer', 'show', 'virtual-2')).stdout).toContain('virtual-2  not held');
  expect((await run('printers')).stdout).toContain('virtual-2');
});

test('a printer is offered by IPP, at the same address again, until it is withdrawn', async () => {
  const offered = async () =>
    / {2}(ipp:\/\/\S+\/ipp\/print\/[0-9a-f-]{36})$/m.exec(
      (await run('printer', 'offer', 'virtual-2')).stdout,
    )?.[1];
  const address = await offered();
  expect(address).toBeDefined();
  expect((await run('printer', 'withdraw', 'virtual-2')).stdout).not.toContain('ipp://');
  expect(await offered()).toBe(address);
  const { ipp } = await json(z.object({ ipp: z.null() }), 'printer', 'withdraw', 'virtual-2');
  expect(ipp).toBe(null);
  const words = (await audited()).slice(0, 4).map(({ what }) => what);
  expect(words).toEqual(['printer.withdraw', 'printer.offer', 'printer.withdraw', 'printer.offer']);
});

test('a test label comes out', async () => {
  const before = (await up.pictures('virtual-2')).length;
  const { stdout } = await run('printer', 'test', 'virtual-2', '--wait', '--timeout', '60', '--json');
  expect(jobView.parse(JSON.parse(stdout)).status).toBe('printed');
  const [label = ''] = (await up.pictures('virtual-2')).slice(before);
  expect(await textIn(label, 'eng')).toContain('Platen test label');
});

test('a shared printer is granted to tenants, taken from them, and every tenant’s again', async () => {
  await up.admin.createTenant({ id: 'acme' });
  const says = async (...args: string[]) => {
    const { code, stdout, stderr } = await run('printer', ...args);
    return [code, (code === 0 ? stdout : stderr).trim().split('  ').at(-1)];
  };
  const all = await run('printer', 'revoke', 'virtual-2', '--tenant', 'acme');
  expect([all.code, all.stderr]).toEqual([1, expect.stringContaining("virtual-2 is every tenant's")]);
  expect(await says('grant', 'virtual-2', '--tenant', 'acme')).toEqual([0, 'for acme']);
  await expect(print('virtual-2', '1')).rejects.toThrow('printer-unknown');
  expect((await run('printers')).stdout).toMatch(/For some tenants only:\n.*\nvirtual-2 +acme\n/);
  expect((await run('printers', '--tenant', 'default')).stdout).not.toContain('virtual-2');
  expect(await says('grant', 'virtual-2', '--tenant', 'acme', 'default')).toEqual([0, 'for acme, default']);
  await up.ended(await print('virtual-2', '1'));
  const lost = await json(printerDetails, 'printer', 'revoke', 'virtual-2', '--tenant', 'default', 'acme');
  expect(lost.grantedTo).toEqual([]);
  expect(await says('share', 'virtual-2')).toEqual([0, 'for every tenant']);
  expect((await audited())[0]).toMatchObject({ what: 'printer.grant', details: { tenants: '*' } });
  await up.ended(await print('virtual-2', '2'));
  const unknown = await run('printer', 'grant', 'nowhere', '--tenant', 'acme');
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('There is no shared printer')]);
});

test('a printer that is gone is listed, and forgotten; one that is there is not', async () => {
  const there = await run('printer', 'forget', 'virtual-1');
  expect([there.code, there.stderr]).toEqual([1, expect.stringContaining('printer-in-use')]);
  expect(JSON.parse((await run('printers', '--gone', '--json')).stdout)).toEqual([]);
  await up.stop();
  up = await PlatenUp.start({ dataDir: up.dataDir, args: ['--virtual', '1'] });
  const gone = z.array(z.object({ id: z.string(), name: z.string() }));
  const names = async () => (await json(gone, 'printers', '--gone')).map(({ name }) => name).sort();
  await expect.poll(names, { timeout: 30_000 }).toEqual([MUTE, 'virtual-2']);
  expect((await run('printers')).stdout).not.toContain(MUTE);
  expect(await run('printer', 'forget', MUTE)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('forgotten'),
  });
  expect(await names()).toEqual(['virtual-2']);
  const unknown = await run('printer', 'forget', MUTE);
  expect([unknown.code, unknown.stderr]).toEqual([
    1,
    expect.stringContaining('There is no printer "dock 4"'),
  ]);
});

test.each([
  [['job', 'cancel'], /Name jobs by their IDs, or by options/],
  [['job', 'retry', 'x', '--status', 'failed'], /Name jobs by their IDs, or by options/],
  [['job', 'cancel', '--status', 'lost'], /expected one of queued/],
  [['job', 'move', 'x'], /--to/],
  [['job', 'cancel', 'a', 'b', '--force'], /--force is for one job alone/],
])('%j is no usage', async (args, message) => {
  const { code, stderr, stdout } = await run(...args);
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(message)]);
});

test('the shells know the commands', async () => {
  const script = join(directory.path, 'completion.bash');
  await writeFile(script, (await platen(['completion', 'bash'])).stdout);
  const text = await readFile(script, 'utf8');
  for (const word of ['/printer/hold', '/printer/forget', '/job/move', '/job/reprint'])
    expect(text).toContain(word);
});
