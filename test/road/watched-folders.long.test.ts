/** Folders in the configuration of a service, and of an agent: they print while it runs, and a wrong one harms nothing else. */
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { invitationMade } from '../../src/contract/agent-view.ts';
import { PlatenUp, platen } from '../kit/service/platen.ts';
import { RunningPrograms } from '../kit/service/running.ts';
import { useDirectory } from '../kit/service/use-directory.ts';

const directory = useDirectory();
let up: PlatenUp;
const programs = new RunningPrograms();
const at = (...path: string[]) => join(directory.path, ...path);
const names = (...path: string[]) => readdir(at(...path)).then((all) => all.sort());
const TEMPLATE = {
  name: 'Shelf of somebody',
  language: 'zpl',
  source: '^XA^FO20,20^A0N,40,40^FD{{sku}}^FS^XZ',
  fields: [{ name: 'sku' }],
};
const route = { template: TEMPLATE.name, printer: 'virtual-1', settle: 0.1 };

async function configured(name: string, content: object): Promise<string> {
  await writeFile(at(name), JSON.stringify(content), { mode: 0o600 });
  return at(name);
}

async function jobOf(...path: string[]) {
  const job = async () => /job ([0-9a-f-]{36})/.exec(await readFile(`${at(...path)}.txt`, 'utf8'))?.[1] ?? '';
  // The text is there a moment before it is whole.
  await expect.poll(job).not.toBe('');
  return await up.ended(await job());
}

beforeAll(async () => {
  await mkdir(at('one'), { mode: 0o750 });
  await mkdir(at('two'));
  await symlink(directory.path, at('link'));
  const folders = [
    { directory: at('one'), ...route, copies: 2, wait: true },
    { directory: at('two'), ...route, tenant: 'acme' },
    // The same by another way.
    { directory: at('link', 'two'), ...route, tenant: 'acme' },
    { directory: at('later'), ...route },
  ];
  up = await PlatenUp.start({
    dataDir: at('data'),
    args: [
      '--config',
      await configured('platen.json', { folders }),
      '--virtual',
      '1',
      '--virtual-speed',
      '100',
    ],
  });
});
afterAll(async () => {
  await programs.end();
  await up?.stop();
});

test('a service’s folders print once their templates are there, each for its tenant; the log has no names', async () => {
  // Before anybody has made the tenant or the template, and where a folder is not there: the service runs, and says so.
  await expect.poll(() => up.output.split('the folder is not watched at present').length).toBeGreaterThan(4);
  await up.admin.createTenant({ id: 'acme' });
  await up.admin.importTemplate('default', TEMPLATE);
  await up.admin.importTemplate('acme', TEMPLATE);
  await writeFile(at('one', 'Mr Smith.json'), '[{"sku":"1"},{"sku":"2"}]', { mode: 0o640 });
  await writeFile(at('two', 'Mr Smith.csv'), 'sku\n3\n');
  await writeFile(at('two', 'Mrs Smith.json'), '{');
  await expect.poll(() => names('one', 'done'), { timeout: 60_000 }).toContain('Mr Smith.json.txt');
  await expect.poll(() => names('two', 'done'), { timeout: 60_000 }).toContain('Mr Smith.csv.txt');
  await expect.poll(() => names('two', 'failed')).toContain('Mrs Smith.json.txt');
  expect(await jobOf('one', 'done', 'Mr Smith.json')).toMatchObject({
    ...{ tenant: 'default', status: 'printed', labels: { total: 4, printed: 4 } },
  });
  expect(await jobOf('two', 'done', 'Mr Smith.csv')).toMatchObject({
    tenant: 'acme',
    labels: { printed: 1 },
  });
  const { id } = await jobOf('one', 'done', 'Mr Smith.json');
  expect(up.output).toContain(`"jobId":"${id}"`);
  expect(up.output).not.toContain('Smith');
  await expect.poll(() => up.output).toContain('two is watched already');

  // People who may read the folder may read why.
  const mode = async (...path: string[]) => ((await stat(at(...path))).mode & 0o777).toString(8);
  expect([await mode('one', 'done'), await mode('one', 'done', 'Mr Smith.json.txt')]).toEqual(['750', '640']);
  expect(await mode('one', 'printing')).toBe('700');
});

test('a folder that is there later is watched then; the doctor says it until then', async () => {
  const doctor = async () =>
    (await platen(['doctor', '--data', at('data'), '--config', at('platen.json')])).stdout;
  const before = await doctor();
  expect(before).toContain(`folder ${at('one')}: is there, and can be written`);
  expect(before).toContain(`failed   folder ${at('later')}: is not there`);
  await mkdir(at('later'));
  await writeFile(at('later', 'one.json'), '{"sku":"later"}');
  await expect.poll(() => names('later'), { timeout: 60_000 }).toContain('done');
  await expect.poll(() => names('later', 'done'), { timeout: 60_000 }).toEqual(['one.json', 'one.json.txt']);
  expect(await doctor()).toContain(`folder ${at('later')}: is there, and can be written`);
});

test('an agent’s folder prints with an account, whose tenant it is for', async () => {
  const account = await up.admin.createIntegration('acme', { name: 'folder' });
  const file = at('account.json');
  await mkdir(at('three'));
  const folders = [{ directory: at('three'), ...route, account: file, wait: true }];
  const config = await configured('agent.json', { folders });
  const asked = { name: 'Dock', tenant: 'acme' };
  const { url } = await up.admin.ofAgents(invitationMade, 'POST', '/invitations', asked);
  expect((await platen(['agent', 'enroll', url, '--data', at('agent')])).code).toBe(0);
  const agent = programs.start(['agent', '--data', at('agent'), '--config', config]);
  await agent.until(() => /agent \S+ runs/.test(agent.said()));
  await agent.until(() => agent.said().includes('Cannot read'));
  await configured('account.json', account);
  await writeFile(at('three', 'one.json'), '{"sku":"agent"}');
  await expect.poll(() => names('three'), { timeout: 60_000 }).toContain('done');
  await expect.poll(() => names('three', 'done'), { timeout: 60_000 }).toEqual(['one.json', 'one.json.txt']);
  expect(await jobOf('three', 'done', 'one.json')).toMatchObject({ tenant: 'acme', status: 'printed' });
  await agent.end();
  expect(await agent.exited()).toBe(0);
  expect(await names('three', 'printing')).toEqual([]);
});

test('a stop ends what is watched, and the next start goes on', async () => {
  expect(await up.stop()).toBe(0);
  for (const folder of ['one', 'two', 'later']) expect(await names(folder, 'printing')).toEqual([]);
  await writeFile(at('one', 'next.json'), '{"sku":"next"}');
  const args = ['--config', at('platen.json'), '--virtual', '1', '--virtual-speed', '100'];
  up = await PlatenUp.start({ dataDir: at('data'), args });
  await expect.poll(() => names('one', 'done'), { timeout: 60_000 }).toContain('next.json.txt');
});
