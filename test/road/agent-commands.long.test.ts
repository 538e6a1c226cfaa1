/** What people type for an agent at another site, at a `platen up` on the database that it brings: from the code to the end. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { z } from 'zod';
import { readEnrolment } from '../../src/cli/enrolment.ts';
import { invitationMade } from '../../src/contract/agent-view.ts';
import { Directories, TestPrinter } from '../kit/agent/site.ts';
import { PLATEN } from '../kit/programs/built.ts';
import { Programs } from '../kit/programs/programs.ts';
import { describePrinter } from '../kit/service/harness.ts';
import { PlatenUp, platen } from '../kit/service/platen.ts';
import { NUMBERED } from '../kit/service/small-label.ts';
import { RawAgent } from '../kit/wire/raw-agent.ts';

const NAME = 'Dock Hamburg';
const directories = new Directories();
const programs = new Programs();
const open: RawAgent[] = [];
let up: PlatenUp;

beforeAll(async () => {
  up = await PlatenUp.start({ dataDir: directories.make(), args: ['--virtual', '0'] });
  for (const id of ['acme', 'globex']) await up.admin.createTenant({ id });
}, 120_000);
afterAll(async () => {
  for (const { socket } of open) socket.terminate();
  await programs.end();
  await up?.stop();
  directories.remove();
});

/** A command at the service. @returns its exit code, and what it says in one line */
async function at(...words: string[]): Promise<{ code: number; said: string }> {
  const { code, stdout, stderr } = await platen([...words, '--data', up.dataDir]);
  return { code, said: `${stdout} ${stderr}`.replaceAll(/\s+/g, ' ').trim() };
}

async function done(...words: string[]): Promise<string> {
  const { code, said } = await at(...words);
  expect([code, said]).toEqual([0, said]);
  return said;
}

async function invited(...words: string[]): Promise<z.infer<typeof invitationMade>> {
  const { stdout } = await platen(['agent', 'invite', ...words, '--json', '--data', up.dataDir]);
  return invitationMade.parse(JSON.parse(stdout));
}

/** At the other site, which knows nothing of the service. */
async function enroll(invitation: string, data: string, ...words: string[]) {
  const { code, stdout, stderr } = await platen(['agent', 'enroll', invitation, '--data', data, ...words]);
  return { code, said: `${stdout}${stderr}`.trim() };
}

/** Enrols and joins, as an agent with these printers. */
async function joined(url: string, ...printers: string[]): Promise<{ id: string; agent: RawAgent }> {
  const data = directories.make();
  expect(await enroll(url, data)).toMatchObject({ code: 0 });
  const place = (await readEnrolment(data)) ?? expect.fail('not enrolled');
  const { agentId: id, scope: tenantId } = place;
  const agent = await RawAgent.join(place, { process: 'the-only-one' });
  open.push(agent);
  await agent.next('welcome');
  agent.pings();
  const report = {
    ...{ kind: 'agent', agentId: id, name: 'localhost', version: '1.2.3', at: new Date().toISOString() },
    ...{ online: true, tenantId, printers: printers.map((one) => describePrinter({ id: one, name: one })) },
  };
  agent.say({ kind: 'say', entries: [{ i: 1, what: 'told', report: JSON.stringify(report) }] });
  await agent.next('answers');
  return { id, agent };
}

test('a code is made, listed, withdrawn, or lets one agent in, which then prints', async () => {
  const said = await done('agent', 'invite', '--name', NAME, '--tenant', 'acme');
  const line =
    /platen agent enroll '(http:\/\/127\.0\.0\.1:\d+#[0-9A-Z]{4}(?:-[0-9A-Z]{4}){3})' platen agent /;
  expect(said).toMatch(line);
  expect(said).toContain("This address works on the service's own computer only");
  const [, url = ''] = line.exec(said) ?? [];
  const lost = await invited('--name', 'Lost');
  expect(lost.url).toBe(`${new URL(url).origin}#${lost.code}`);
  expect(new Date(lost.expiresAt).getTime()).toBeGreaterThan(Date.now());
  const listed = await done('agents');
  expect(listed).toMatch(/Dock Hamburg +invited;.* acme/);
  expect(listed).toMatch(/Lost +invited;.* every tenant/);
  for (const code of [url, lost.url]) expect(listed).not.toContain(new URL(code).hash.slice(1));
  expect(await done('agent', 'withdraw', 'Lost')).toBe('the code for Lost works no longer');
  expect(await at('agent', 'withdraw', 'Lost')).toMatchObject({
    code: 1,
    said: expect.stringContaining('No open invitation is for Lost'),
  });
  const spent = { code: 1, said: expect.stringContaining('[invitation-spent]') };
  expect(await enroll(lost.url, directories.make())).toMatchObject(spent);

  const data = directories.make();
  const { code, said: told } = await enroll(url, data);
  expect([code, told]).toEqual([0, expect.stringMatching(/^Dock Hamburg \([\w-]+\) is enrolled at http:/)]);
  expect(await enroll(url, directories.make())).toMatchObject(spent);
  const printer = new TestPrinter(directories);
  await printer.start();
  programs.start(PLATEN, ['agent', '--data', data, '--printer', printer.uri]);
  const idle = async () => (await up.admin.printers()).find(({ status }) => status === 'idle')?.id;
  await expect.poll(idle, { timeout: 120_000 }).toBeTypeOf('string');
  const { id: idT } = await up.admin.importTemplate('acme', NUMBERED);
  const { id } = await up.admin.enqueue('acme', { idT, printerId: (await idle()) ?? '', data: [{ n: '1' }] });
  expect(await up.ended(id, 120_000)).toMatchObject({ status: 'printed' });
  expect(printer.odometer).toBe(1);
  expect(await done('agents')).toMatch(/Dock Hamburg +online /);
  await programs.end();
  await printer.stop();
}, 400_000);

test.each([
  ['no name', ['invite'], "required option '--name <name>' not specified"],
  ['another policy', ['invite', '--name', 'x', '--printers', 'some'], 'Allowed choices are any, approve'],
  ['no invitation', ['enroll', 'platen.example'], 'Expected the whole invitation, in quotes'],
  ['a slip of the pen', ['enroll', 'https://platen.example#7K3M-Q9TX-2VHD-R8W0'], 'is no code: it has 16'],
  ['no new owner', ['move', 'x'], 'Say whose it is to be: --tenant <id>, or --shared.'],
  ['two new owners', ['move', 'x', '--tenant', 'acme', '--shared'], 'Say whose it is to be'],
])('%s is a wrong use, and says what was expected', async (_, words, expected) => {
  expect(await at('agent', ...words)).toMatchObject({ code: 2, said: expect.stringContaining(expected) });
});

test.each([
  ['invite', ['--name', 'x', '--tenant', 'nobody'], '[tenant-not-found]'],
  ['show', ['nobody'], 'No agent is called nobody, or has this ID: "platen agents" lists them.'],
  ['revoke', ['nobody'], 'No agent is called nobody'],
])('%s %j is refused, with the reason', async (word, words, expected) => {
  expect(await at('agent', word, ...words)).toMatchObject({
    code: 1,
    said: expect.stringContaining(expected),
  });
});

test('an agent is shown, its printers are approved and refused, it is renamed, moved and revoked', async () => {
  const [one, other] = ['serial-aaaaaaaaaaaa', 'serial-bbbbbbbbbbbb'];
  const { url } = await invited('--name', 'Ramp', '--tenant', 'acme', '--printers', 'approve');
  const { id, agent } = await joined(url, one, other);
  expect(await done('agents')).toMatch(
    /Printers that agents brought, and get no jobs of: .*serial-aaaaaaaaaaaa .*waits for "platen agent approve" since/,
  );
  const shown = await done('agent', 'show', 'Ramp');
  expect(shown).toMatch(
    new RegExp(`^name Ramp ID ${id} for acme status online version 1\\.2\\.3 last heard `),
  );
  expect(shown).toMatch(/comes by https, as an agent at another site enrolled .* connected since /);
  expect(await done('agent', 'approve', 'Ramp', one)).toBe(`approved: ${one}`);
  expect(await done('agent', 'refuse', 'Ramp')).toBe(`refused: ${other}`);
  expect(await done('agent', 'refuse', 'Ramp')).toBe('refused: no printer');
  expect(await at('agent', 'approve', 'Ramp', 'serial-cccccccccccc')).toMatchObject({
    code: 1,
    said: expect.stringContaining('[printer-not-found]'),
  });
  expect(await done('agent', 'show', 'Ramp')).toMatch(
    /Gets no jobs of: .*serial-bbbbbbbbbbbb .*refused since/,
  );

  expect(await done('agent', 'rename', id, 'Ramp 2')).toBe(`${id} is called Ramp 2`);
  expect(await at('agent', 'show', 'Ramp')).toMatchObject({ code: 1 });
  const { id: twin } = await joined((await invited('--name', 'Ramp 2')).url);
  const several = await at('agent', 'show', 'Ramp 2');
  expect(several).toMatchObject({
    code: 1,
    said: expect.stringContaining('Several agents are called Ramp 2'),
  });
  for (const of of [id, twin]) expect(several.said).toContain(of);

  expect(await at('agent', 'move', id, '--tenant', 'nobody')).toMatchObject({
    code: 1,
    said: expect.stringContaining('[tenant-not-found]'),
  });
  expect(await done('agent', 'move', id, '--tenant', 'globex')).toBe(
    "Ramp 2 is globex's as soon as it has finished what it has in hand, and is connected",
  );
  expect(await agent.next('move')).toMatchObject({ scope: 'globex' });
  expect(await done('agent', 'show', id)).toContain("status online; is to be another tenant's");
  const shared = await platen(['agent', 'move', id, '--shared', '--json', '--data', up.dataDir]);
  expect(JSON.parse(shared.stdout)).toEqual({ id, tenant: null });
  expect(await agent.next('move')).toMatchObject({ scope: null });

  expect(await done('agent', 'revoke', id)).toBe(`${id} is revoked`);
  expect(await agent.next('bye')).toMatchObject({ code: 'revoked' });
  expect(await done('agent', 'show', id)).toContain('status revoked at ');
  expect(await at('agent', 'forget', twin)).toMatchObject({
    code: 1,
    said: expect.stringContaining('[agent-in-use]'),
  });
  expect(await done('agent', 'forget', id)).toBe('Ramp 2 is forgotten');
  expect(await at('agent', 'show', id)).toMatchObject({ code: 1 });
}, 200_000);
