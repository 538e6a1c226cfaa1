/** Agents as they are listed and forgotten, and jobs that no agent takes. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { agentView } from '../../src/contract/agent-view.ts';
import { jobView } from '../../src/contract/job.ts';
import type { PrinterDescription } from '../../src/contract/printer.ts';
import { printerDetails } from '../../src/contract/printer-actions.ts';
import { codeOf } from '../kit/service/harness.ts';
import { useService, useTenant } from '../kit/service/use-service.ts';

const service = useService();
const acme = useTenant(service, { printers: [] });

const agents = async (query = '') =>
  z.array(agentView).parse((await service.admin('GET', `/agents${query}`)).body);
const job = async (id: string) => jobView.parse((await service.admin('GET', `/jobs/${id}`)).body);

test('an agent with the addresses that it has never reached', async () => {
  const missed = { uri: 'socket://10.0.0.9:9100', name: 'dock', why: 'connection refused' };
  await service.agent([{}], { unreached: [missed] });
  await service.agent([], { agentId: 'agent-other', name: 'Other', tenantId: 'globex' });
  expect(await agents()).toMatchObject([
    { id: 'agent-one', online: true, printers: 1, unreached: [missed], tenant: null },
    { id: 'agent-other', tenant: 'globex', unreached: [] },
  ]);
  expect((await agents('?tenant=acme')).map(({ id }) => id)).toEqual(['agent-one']);
  await service.agent([{ confirmedBy: 'person' }]);
  expect(await agents('?tenant=acme')).toMatchObject([{ unreached: [] }]);
  expect((await service.admin('GET', '/printers?tenant=acme')).body).toMatchObject([
    { confirmedBy: 'person' },
  ]);
  // It cannot be asked just now: what was known of it stays.
  await service.agent([{ state: 'unknown', reasons: ['offline'] }]);
  expect((await service.admin('GET', '/printers?tenant=acme')).body).toMatchObject([
    { confirmedBy: 'person' },
  ]);
});

test('an agent whose printers are said in stretches, at one moment', async () => {
  const agentId = 'agent-of-many';
  const [at, later] = [2_000, 1_000].map((ms) => new Date(Date.now() - ms).toISOString());
  const missed = { uri: 'socket://10.0.0.9:9100', why: 'connection refused' };
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((letter) => `serial-${letter.repeat(8)}`);
  if (!at || !later || !a || !b || !c || !d) throw new Error('two times and four printers');
  const has = async () => (await agents()).find(({ id }) => id === agentId);
  await service.agent([{ id: a }, { id: b }], { agentId, at, stretch: { upTo: b }, unreached: [missed] });
  await service.agent([{ id: c }, { id: d }], { agentId, at, stretch: { after: b } });
  expect(await has()).toMatchObject({ printers: 4, unreached: [missed] });
  // Those that are gone are missing in their own stretch only.
  await service.agent([{ id: d }], { agentId, at: later, stretch: { after: b } });
  expect(await has()).toMatchObject({ printers: 3, unreached: [missed] });
  await service.agent([{ id: b }], { agentId, at: later, stretch: { upTo: b } });
  expect(await has()).toMatchObject({ printers: 2, unreached: [] });
  await service.agent([], { agentId, at: new Date().toISOString() });
});

describe('forgotten', () => {
  const agentId = 'agent-gone';
  const forget = (id = agentId) => service.admin('DELETE', `/agents/${id}`);
  const isListed = async () => (await agents()).some(({ id }) => id === agentId);
  const printers = async () => {
    const all = z.array(printerDetails).parse((await service.admin('GET', '/printers')).body);
    return all.map(({ id }) => id);
  };
  const needs = async () =>
    (await service.pool.query('SELECT FROM platen.printer_attention WHERE lane = $1', [PRINTER])).rowCount;
  const PRINTER = 'serial-777777777777';
  const away = (than: string) =>
    service.pool.query(`UPDATE platen.agents SET seen_at = now() - interval '${than}' WHERE id = $1`, [
      agentId,
    ]);

  test('once it has been away for a day, with its printers and what they needed; if it comes again, it is listed', async () => {
    const offline: Partial<PrinterDescription> = { id: PRINTER, state: 'unknown', reasons: ['offline'] };
    await service.agent([offline], { agentId });
    for (const than of ['0 s', '23 hours']) {
      await away(than);
      expect(codeOf(await forget())).toBe('agent-in-use');
    }
    expect([await isListed(), await printers(), await needs()]).toEqual([
      true,
      expect.arrayContaining([PRINTER]),
      1,
    ]);
    await away('25 hours');
    expect((await forget()).status).toBe(204);
    expect([await isListed(), await printers(), await needs()]).toEqual([
      false,
      expect.not.arrayContaining([PRINTER]),
      0,
    ]);
    expect(codeOf(await forget())).toBe('agent-not-found');
    const deeds = (await service.admin('GET', '/audit')).text;
    expect(deeds.match(/"agent\.forget"/g)).toHaveLength(1);
    await service.agent([offline], { agentId });
    expect(await isListed()).toBe(true);
  });

  test('once it is revoked: it is kept out for all that, and is no agent that is away', async () => {
    await service.agent([{ id: PRINTER }], { agentId });
    await service.pool.query(
      `INSERT INTO platen.enrolled_agents (id, name, public_key, origin) VALUES ($1, 'Gone', 'key', 'https://x')`,
      [agentId],
    );
    await away('25 hours');
    expect(codeOf(await forget())).toBe('agent-in-use');
    await service.admin('POST', `/agents/${agentId}/revoke`);
    expect((await forget()).status).toBe(204);
    expect([await isListed(), await printers()]).toEqual([false, expect.not.arrayContaining([PRINTER])]);
    const { rows } = await service.pool.query(
      'SELECT revoked_at IS NOT NULL AS revoked FROM platen.enrolled_agents WHERE id = $1',
      [agentId],
    );
    expect(rows).toEqual([{ revoked: true }]);
    expect(codeOf(await forget())).toBe('agent-not-found');
  });

  test('not while a job that it has begun is undecided: should it come again, it may say which labels are out', async () => {
    await service.agent([{ id: PRINTER }], { agentId: 'agent-begun' });
    const id = await acme.newJob({ printerId: PRINTER });
    await service.pool.query(
      `UPDATE platen.jobs SET status = 'held', agent_id = 'agent-begun' WHERE id = $1`,
      [id],
    );
    await service.pool.query(
      `UPDATE platen.agents SET seen_at = now() - interval '25 hours' WHERE id = 'agent-begun'`,
    );
    const refused = await forget('agent-begun');
    expect([codeOf(refused), refused.text]).toEqual([
      'agent-in-use',
      expect.stringContaining('decided about: 1.'),
    ]);
    const canceled = `UPDATE platen.jobs SET status = 'canceled', uncertain_from = 0, uncertain_to = $2 WHERE id = $1`;
    await service.pool.query(canceled, [id, 1]);
    expect(codeOf(await forget('agent-begun'))).toBe('agent-in-use');
    await service.pool.query(canceled, [id, 0]);
    expect((await forget('agent-begun')).status).toBe(204);
  });
});

test('a job says why no agent takes it', async () => {
  await service.agent([{}]);
  const id = await acme.newJob();
  expect((await job(id)).reasons).toEqual([]);
  await service.agent([{}], { online: false });
  expect((await job(id)).reasons).toEqual(['agent-offline']);
  await service.agent([]);
  expect((await job(id)).reasons).toEqual(['printer-gone']);
  // Another tenant's printer of that ID is not the one that it waits for.
  await service.agent([{}], { agentId: 'agent-globex', tenantId: 'globex' });
  expect((await job(id)).reasons).toEqual(['printer-gone']);
  await service.agent([{}]);
  expect((await job(id)).reasons).toEqual([]);
});
