/** CUPS prints on a running Platen as on any IPP Everywhere printer, and its own suites find nothing wrong there. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { Authorization } from '../../drivers/ipp/authorization.ts';
import { openWindows } from '../kit/browser/browser.ts';
import { readText } from '../kit/judges/judges.ts';
import { type Cupsd, startCupsd } from '../kit/programs/cupsd.ts';
import { ipptool, suites } from '../kit/programs/ipptool.ts';
import { PlatenUp, platen } from '../kit/service/platen.ts';
import { useDirectory } from '../kit/service/use-directory.ts';
import { JobClient } from '../kit/wire/job-client.ts';

const run = promisify(execFile);
const PAGE = `<style>@page { size: 4in 6in; margin: 0 } h1 { font: 30px sans-serif; margin: 2in 0 0 1in }</style><h1>HELLO OFFICE</h1>`;

const directory = useDirectory();
let up: PlatenUp;
let cups: Cupsd;
beforeAll(async () => {
  [cups, up] = await Promise.all([
    startCupsd(),
    PlatenUp.start({
      ...{ dataDir: join(directory.path, 'data'), args: ['--virtual', '1'] },
      env: { PLATEN_IPP: 'true' },
    }),
  ]);
  await up.printerOnline('virtual-1');
  const offered = await platen(['printer', 'offer', 'virtual-1', '--data', up.dataDir], {});
  expect(offered.stdout).toMatch(/ ipp:\/\/\S+\/ipp\/print\/[0-9a-f-]{36}$/m);
}, 300_000);
afterAll(async () => {
  await cups?.stop();
  await up?.stop();
});

async function keyOf(tenant: string): Promise<{ account: string; key: string }> {
  const scope = 'jobs:enqueue jobs:read jobs:cancel printers:read';
  const args = ['integration', 'create', '--tenant', tenant, '--name', 'Office', '--scope', scope, '--json'];
  const made = await platen(args, { PLATEN_URL: up.url, PLATEN_ADMIN_TOKEN: up.adminToken });
  const { apiKey, printNodeKey } = z
    .object({ apiKey: z.string(), printNodeKey: z.string() })
    .parse(JSON.parse(made.stdout));
  return { account: apiKey, key: printNodeKey };
}

/** The printer's address, with credentials in it. */
async function addressOf(key: string): Promise<string> {
  const authorization = `Basic ${Buffer.from(`maria:${key}`).toString('base64')}`;
  const answer = await fetch(`${up.url}/ipp/print`, { headers: { authorization } });
  const [, uri = ''] = (await answer.text()).split('\t');
  return uri.replace('://', `://maria:${key}@`);
}

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  const signal = AbortSignal.timeout(90_000);
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await pause(100, undefined, { signal });
  }
}

const jobIn = (status: string) =>
  until(async () => (await up.admin.jobs()).find((one) => one.status === status));

test('a page from a browser is printed by CUPS dot by dot, in the name of who printed it', {
  timeout: 300_000,
}, async () => {
  const browser = await openWindows();
  const page = await (await browser.newContext()).newPage();
  await page.setContent(PAGE);
  const file = join(directory.path, 'page.pdf');
  const document = await page.pdf({ preferCSSPageSize: true });
  await writeFile(file, document);
  await browser.close();

  const { account, key } = await keyOf('default');
  const address = await addressOf(key);
  await cups.addQueue('dock', address, 'everywhere');
  const server = ['-h', `127.0.0.1:${cups.port}`];
  // CUPS asks the printer behind lpadmin's back.
  await until(async () => {
    const { stdout } = await run('lpoptions', [...server, '-p', 'dock', '-l']).catch(() => ({ stdout: '' }));
    return stdout.includes('PageSize/') ? true : undefined;
  });
  const print = () => run('lp', [...server, '-U', 'maria', '-d', 'dock', '-t', 'Order 4711', file]);
  await print();
  const { id } = await jobIn('printed');
  const headers = { authorization: `Bearer ${up.adminToken}` };
  const shown: unknown = await (await fetch(`${up.url}/app/jobs/${id}`, { headers })).json();
  expect(shown).toMatchObject({ account, sender: 'maria' });
  await until(async () => {
    const { stdout } = await run('lpstat', [...server, '-W', 'completed', '-o', 'dock']);
    return stdout.includes('dock-1') ? true : undefined;
  });

  // The same document without CUPS between.
  const authorization = new Authorization({ user: 'maria', password: key, inClear: true }, () => true);
  const client = new JobClient(address.replace(/\/\/.*@/, '//'), { authorization });
  await client.printJob({ format: 'application/pdf' }, document, AbortSignal.timeout(60_000));
  client.close();
  const [byCups, direct] = await until(async () => {
    const pictures = await up.pictures();
    return pictures.length === 2 ? await Promise.all(pictures.map((each) => readFile(each))) : undefined;
  });
  expect(await readText(byCups ?? Buffer.alloc(0))).toBe('HELLO OFFICE');
  expect(byCups?.equals(direct ?? Buffer.alloc(0))).toBe(true);

  const fault = (word: string) => platen(['virtual', 'fault', 'virtual-1', word, '--data', up.dataDir]);
  await fault('media-empty');
  await print();
  await jobIn('printing');
  await run('cancel', [...server, '-a', 'dock']);
  await jobIn('canceled');
  await fault('clear');
});

test.each([
  ['1.1', 'ipp-1.1.test', 31],
  ['2.0', 'ipp-2.0.test', 32],
])('passes %s of %s with no failure', { timeout: 300_000 }, async (version, suite, atLeast) => {
  const { key } = await keyOf('default');
  const lines = await ipptool(await suites(), version, await addressOf(key), suite);
  const failed = lines.findIndex((line) => line.endsWith('[FAIL]'));
  expect(failed < 0 ? [] : lines.slice(failed, failed + 12)).toEqual([]);
  expect(lines.filter((line) => line.endsWith('[PASS]')).length).toBeGreaterThanOrEqual(atLeast);
});
