/**
 * npm's `printnode-client`, with nothing but its address and key changed, prints a PDF on a virtual printer. It is a package of
 * its own, `test/printnode-client`, since it is old and brings much.
 */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { pdfOf } from '../kit/documents/pdf.ts';
import { readText } from '../kit/judges/judges.ts';
import { installed } from '../kit/programs/installed.ts';
import { PlatenUp, platen } from '../kit/service/platen.ts';
import { useDirectory } from '../kit/service/use-directory.ts';

/** What a shop's server does: finds the printer, prints, and asks until the job is over. */
const SHOP = `
const Client = require('printnode-client');
const [, , base, key, file, wrong] = process.argv;
const clientOf = (api_key) => {
  const client = new Client({ api_key });
  client.base_url = base.replace('://', '://' + api_key + ':@');
  return client;
};
(async () => {
  const client = clientOf(key);
  const who = await client.whoami();
  const [computer] = await client.fetchComputers();
  const printers = await client.fetchPrintersForComputer(computer.id);
  const printer = printers.find(({ name }) => name === 'virtual-1');
  const id = await client.createPrintJobFromPdf({ title: 'Order 4711', printer: printer.id, filename: file });
  const states = [];
  while (!['done', 'error', 'deleted'].includes(states.at(-1))) {
    const [[...seen]] = await client._getJSON('printjobs/' + id + '/states');
    states.splice(0, states.length, ...seen.map(({ state }) => state));
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  const [job] = await client.fetchPrintJobForPrinter(printer.id, id);
  const refused = await clientOf(wrong).whoami().then(() => 'let in', (error) => error.message);
  const others = await clientOf(process.env.OTHER).fetchPrintJobs();
  console.log(JSON.stringify({ who, job, states, refused, others }));
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
`;
const said = z.object({
  who: z.object({ firstname: z.string() }),
  job: z.object({ title: z.string(), state: z.string() }),
  states: z.array(z.string()),
  refused: z.string(),
  others: z.array(z.unknown()),
});

const directory = useDirectory();
let up: PlatenUp;
let modules = '';
beforeAll(async () => {
  [modules, up] = await Promise.all([
    installed('printnode-client'),
    PlatenUp.start({
      ...{ dataDir: join(directory.path, 'data'), args: ['--virtual', '1'] },
      env: { PLATEN_PRINTNODE: 'true' },
    }),
  ]);
  await up.printerOnline('virtual-1');
}, 300_000);
afterAll(() => up?.stop());

async function keyOf(tenant: string): Promise<string> {
  const scope = 'jobs:enqueue jobs:read jobs:cancel printers:read';
  const args = ['integration', 'create', '--tenant', tenant, '--name', 'Shop', '--scope', scope, '--json'];
  const made = await platen(args, { PLATEN_URL: up.url, PLATEN_ADMIN_TOKEN: up.adminToken });
  return z.object({ printNodeKey: z.string() }).parse(JSON.parse(made.stdout)).printNodeKey;
}

test('a label is printed, and its states lead to done', { timeout: 240_000 }, async () => {
  const [program, file] = [join(directory.path, 'shop.cjs'), join(directory.path, 'label.pdf')];
  await writeFile(program, SHOP);
  const content = 'BT /F 40 Tf 20 200 Td (HELLO SHOP) Tj ET';
  await writeFile(file, pdfOf([{ width: 280, height: 420, content }]));
  await up.admin.createTenant({ id: 'other' });
  const env = { ...process.env, NODE_PATH: modules, OTHER: await keyOf('other') };
  const args = [
    '--no-deprecation',
    program,
    `${up.url}/printnode/`,
    await keyOf('default'),
    file,
    'pk_a.sk_b',
  ];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env, timeout: 200_000 });
  const { who, job, states, refused, others } = said.parse(JSON.parse(stdout));
  expect(who.firstname).not.toBe('');
  expect(job).toEqual({ title: 'Order 4711', state: 'done' });
  expect([states[0], states.at(-1)]).toEqual(['new', 'done']);
  expect(refused).toBe('401 - API Key not found');
  expect(others).toEqual([]);
  const [picture] = await up.pictures();
  expect(await readText(await readFile(picture ?? ''))).toBe('HELLO SHOP');
});
