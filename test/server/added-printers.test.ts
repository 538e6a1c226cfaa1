/** Printers that people add by their address: which addresses, at whose agents, by whom. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { enrollAgent } from '../../src/cli/enrolment.ts';
import { addedPrinterView, isOwnComputer, printerUri } from '../../src/contract/added-printer.ts';
import { invitationMade } from '../../src/contract/agent-view.ts';
import { Directories } from '../kit/agent/site.ts';
import { codeOf, pointersOf } from '../kit/service/harness.ts';
import { SignedIn } from '../kit/service/signed-in.ts';
import { useService } from '../kit/service/use-service.ts';
import { RawAgent } from '../kit/wire/raw-agent.ts';

const service = useService({ redis: false });
const directories = new Directories();
afterAll(() => directories.remove());
const at = 'socket://10.0.0.9:9100';
let acme: SignedIn;
let keeper: SignedIn;

beforeAll(async () => {
  for (const tenant of ['acme', 'globex', 'default']) await service.tenant(tenant);
  await service.agent([], { agentId: 'agent-shared' });
  await service.agent([], { agentId: 'agent-acme', tenantId: 'acme' });
  await service.agent([], { agentId: 'agent-globex', tenantId: 'globex' });
  acme = await SignedIn.as(service, 'acme', 'admin');
  keeper = await SignedIn.asKeeper(service);
});

const add = (who: SignedIn, agent: string, address: string, more: object = {}) =>
  who.call('/app/printers/addresses', { method: 'POST', body: { agent, address, ...more } });
const list = async (who: SignedIn) =>
  z.array(addedPrinterView).parse((await who.call('/app/printers/addresses')).body);

test.each([
  ['10.0.0.5', 'socket://10.0.0.5:9100'],
  ['10.0.0.5:6101', 'socket://10.0.0.5:6101'],
  ['Printer.Local', 'socket://printer.local:9100'],
  ['socket://10.0.0.5/', 'socket://10.0.0.5:9100'],
  ['[fd00::5]:9100', 'socket://[fd00::5]:9100'],
  ['ipp://printer.local/ipp/print', 'ipp://printer.local/ipp/print'],
  ['lpd://10.0.0.5/raw', 'lpd://10.0.0.5/raw'],
  ['127.1', 'socket://127.0.0.1:9100'],
  ['0x7f000001:25', 'socket://127.0.0.1:25'],
  ['file:///etc/passwd', undefined],
  ['usb://1203/0230', undefined],
  ['http://10.0.0.5', undefined],
  ['socket://me:secret@10.0.0.5', undefined],
  ['10.0.0.5:0', undefined],
  ['10.0.0.5/path', undefined],
  ['a b', undefined],
  ['', undefined],
])('%s is %s', (written, uri) => {
  expect(printerUri(written)).toBe(uri);
});

test.each([
  ['socket://localhost:25', true],
  ['socket://db.localhost:9100', true],
  ['socket://0.0.0.0:9100', true],
  ['socket://169.254.169.254:80', true],
  ['socket://[::1]:9100', true],
  ['socket://[::ffff:7f00:1]:9100', true],
  ['socket://[fe80::1]:9100', true],
  ['socket://127.example.com:9100', false],
  ['socket://10.0.0.5:9100', false],
  ['socket://[fd00::5]:9100', false],
  ['socket://printer.local:9100', false],
])('%s is the own computer of an agent: %s', (uri, own) => {
  expect(isOwnComputer(uri)).toBe(own);
});

test('an address is added once, listed with what its agent says of it, and taken away', async () => {
  const made = await add(acme, 'agent-acme', ' 10.0.0.9 ', { name: 'Dock', language: 'tspl', dpi: 203 });
  expect(made.status).toBe(201);
  const { id } = addedPrinterView.parse(made.body);
  expect(await list(acme)).toMatchObject([
    { id, uri: at, name: 'Dock', agent: { id: 'agent-acme' }, printer: null, why: null },
  ]);
  expect(codeOf(await add(acme, 'agent-acme', at))).toBe('printer-not-added');

  const tenantId = 'acme';
  await service.agent([], { agentId: 'agent-acme', tenantId, unreached: [{ uri: at, why: 'refused' }] });
  expect(await list(acme)).toMatchObject([{ printer: null, why: 'refused' }]);
  const printer = { id: 'serial-0000000000cc', name: 'Dock', uri: at };
  await service.agent([printer], { agentId: 'agent-acme', tenantId });
  expect(await list(acme)).toMatchObject([{ printer: { id: printer.id, name: 'Dock' }, why: null }]);

  // Nobody else has heard of it.
  const globex = await SignedIn.as(service, 'globex', 'admin');
  expect(await list(globex)).toEqual([]);
  const gone = await globex.call(`/app/printers/addresses/${id}`, { method: 'DELETE' });
  expect([gone.status, codeOf(gone)]).toEqual([404, 'not-found']);
  expect((await acme.call(`/app/printers/addresses/${id}`, { method: 'DELETE' })).status).toBe(204);
  expect(await list(acme)).toEqual([]);
});

test('what cannot be added is refused before an agent hears of it', async () => {
  const wrong = await add(acme, 'agent-acme', 'http://10.0.0.5');
  expect([codeOf(wrong), pointersOf(wrong)]).toEqual(['payload-invalid', ['/address']]);
  expect(codeOf(await add(acme, 'agent-globex', at))).toBe('not-found');
  expect(codeOf(await add(acme, 'agent-nobody', at))).toBe('not-found');
  // A shared agent prints for all tenants, and its own computer is for whoever runs it.
  expect(codeOf(await add(acme, 'agent-shared', at))).toBe('permission-missing');
  expect(codeOf(await add(acme, 'agent-acme', '127.1:25'))).toBe('permission-missing');
  expect((await add(keeper, 'agent-shared', '127.0.0.1:9100')).status).toBe(201);
  // Who runs it, and where its printers are, is no other tenant's.
  expect(await list(acme)).toEqual([]);
  expect(await list(keeper)).toMatchObject([{ uri: 'socket://127.0.0.1:9100' }]);
});

test('an agent at another site is told all that was added for it, when it joins and when that changes', async () => {
  const answer = await service.admin('POST', '/agents/invitations', { name: 'Hamburg', tenant: 'acme' });
  const place = await enrollAgent(invitationMade.parse(answer.body).url, directories.make());
  const { agentId } = place;
  await service.agent([], { agentId, tenantId: 'acme' });
  const agent = await RawAgent.join(place);
  try {
    expect(await agent.next('printers')).toEqual({ kind: 'printers', printers: [] });
    const made = await add(acme, agentId, '10.0.0.7', { name: 'Dock' });
    const printers = [{ uri: 'socket://10.0.0.7:9100', name: 'Dock' }];
    expect(await agent.next('printers')).toEqual({ kind: 'printers', printers });
    const { id } = addedPrinterView.parse(made.body);
    await acme.call(`/app/printers/addresses/${id}`, { method: 'DELETE' });
    expect(await agent.next('printers')).toEqual({ kind: 'printers', printers: [] });
  } finally {
    agent.socket.terminate();
  }
});
