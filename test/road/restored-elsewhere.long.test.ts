/** A service that is restored from a back-up, and its agents at other sites: nobody is locked out, nothing is printed twice. */
import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { invitationMade } from '../../src/contract/agent-view.ts';
import { Directories, TestPrinter } from '../kit/agent/site.ts';
import { serialId } from '../kit/agent/use-site.ts';
import { PLATEN } from '../kit/programs/built.ts';
import { type Program, Programs } from '../kit/programs/programs.ts';
import { PlatenUp, platen } from '../kit/service/platen.ts';
import { NUMBERED } from '../kit/service/small-label.ts';
import { freePort } from '../kit/wire/listening.ts';

const LONG = { timeout: 150_000, interval: 200 };
const directories = new Directories();
const programs = new Programs();
const printers: TestPrinter[] = [];
let up: PlatenUp | undefined;

afterAll(async () => {
  await programs.end();
  for (const printer of printers) await printer.stop();
  await up?.stop();
  directories.remove();
});

async function done(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await platen(words);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

interface Office {
  data: string;
  printer: TestPrinter;
  id: string;
  agent: Program;
}

function agentOf(data: string, printer: TestPrinter): Program {
  return programs.start(PLATEN, ['agent', '--data', data, '--printer', printer.uri]);
}

/** Another site, from its invitation to a printer that waits for jobs. */
async function office(of: PlatenUp, name: string): Promise<Office> {
  const made = JSON.parse(await done('agent', 'invite', '--name', name, '--json', '--data', of.dataDir));
  const data = directories.make();
  await done('agent', 'enroll', invitationMade.parse(made).url, '--data', data);
  const serial = randomUUID();
  const printer = new TestPrinter(directories, { serial });
  await printer.start();
  printers.push(printer);
  const agent = agentOf(data, printer);
  const id = serialId(serial);
  await expect.poll(() => isIdle(of, id), LONG).toBe(true);
  return { data, printer, id, agent };
}

async function isIdle(of: PlatenUp, id: string): Promise<boolean> {
  return (await of.admin.printers()).some((one) => one.id === id && one.status === 'idle');
}

async function prints(of: PlatenUp, { printer, id }: Office, idT: string): Promise<void> {
  await expect.poll(() => isIdle(of, id), LONG).toBe(true);
  const before = printer.odometer;
  const job = await of.admin.print('default', { idT, printerId: id, data: [{ n: '1' }] });
  expect(await of.ended(job, 150_000)).toMatchObject({ status: 'printed' });
  expect(printer.odometer).toBe(before + 1);
}

test('an agent of before the back-up goes on by itself, one of after it once a person says so', async () => {
  const options = {
    dataDir: directories.make(),
    args: ['--virtual', '0', '--port', String(await freePort())],
  };
  const first = await PlatenUp.start(options);
  up = first;
  const { id: idT } = await first.admin.importTemplate('default', NUMBERED);
  const old = await office(first, 'Of before');
  await prints(first, old, idT);
  const file = `${directories.make()}/backup`;
  await done('backup', file, '--data', options.dataDir);

  // What the back-up does not know: another label, another state of the agent, another agent.
  await prints(first, old, idT);
  await old.agent.end();
  old.agent = agentOf(old.data, old.printer);
  await expect.poll(() => old.agent.said(), LONG).toContain('joined the service');
  const later = await office(first, 'Of after');
  await prints(first, later, idT);
  await first.stop();
  await done('restore', file, '--data', options.dataDir, '--force');

  const again = await PlatenUp.start(options);
  up = again;
  await prints(again, old, idT);
  expect(old.printer.odometer).toBe(3);
  const listed = async () => (await done('agents', '--data', options.dataDir)).replaceAll(/\s+/g, ' ');
  await expect
    .poll(listed, LONG)
    .toMatch(/restored to an earlier time: .*Of them 1 had not enrolled by then/);
  expect(later.printer.odometer).toBe(1);
  expect(await done('agent', 'approve', '--restored', '--data', options.dataDir)).toContain('Of after (');
  await prints(again, later, idT);
  expect([old.printer.odometer, later.printer.odometer]).toEqual([3, 2]);
}, 500_000);
