/** The page Agents in a real browser: from the invitation to the printers, by agents that join a real service. */
import { createPublicKey } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Enrolment, enrollAgent } from '../../src/cli/enrolment.ts';
import { invitationMade } from '../../src/contract/agent-view.ts';
import { CONSOLE_HEADER, invitationCreated, signInLink } from '../../src/contract/people.ts';
import { Directories } from '../kit/agent/site.ts';
import { barriers, type Look, overflow } from '../kit/browser/browser.ts';
import { HOSTILE } from '../kit/browser/console-site.ts';
import { usePages } from '../kit/browser/use-console.ts';
import { describePrinter } from '../kit/service/harness.ts';
import { PASSWORD, tokenIn } from '../kit/service/signed-in.ts';
import { useService } from '../kit/service/use-service.ts';
import { RawAgent } from '../kit/wire/raw-agent.ts';

const service = useService({ redis: false });
const newPage = usePages();
const directories = new Directories();
const open: RawAgent[] = [];
/** The page of somebody who may do what concerns all tenants. */
let page: Page;

beforeAll(async () => {
  for (const tenant of ['default', 'acme']) await service.tenant(tenant);
  page = await newPage();
  const { url } = signInLink.parse((await service.admin('POST', '/links', {})).body);
  await page.goto(url);
  await show(page);
});
afterAll(() => {
  for (const { socket } of open) socket.terminate();
  directories.remove();
});

async function show(of: Page, address = 'agents'): Promise<void> {
  await of.goto(`${service.url}/console/#/${address}`);
  await of.locator('h1').waitFor();
}

/** Another window of the same person. */
async function window(look: Look): Promise<Page> {
  const other = await newPage(look);
  await other.context().addCookies(await page.context().cookies());
  await show(other);
  return other;
}

const button = (name: string | RegExp, of = page) => of.getByRole('button', { name });
const inDialog = (name: string | RegExp, of = page) => of.locator('dialog').getByRole('button', { name });
const row = (name: string, of = page) => of.locator('tr', { hasText: name });
const pick = async (name: string, item: string) => {
  await button(`More: ${name}`).click();
  await page.getByRole('menuitem', { name: item }).click();
};

/** Invites an agent in the console. @returns the command line to paste at the other site */
async function invited(name: string, { tenant = '', printers = 'any' } = {}): Promise<string> {
  await button('Invite …').first().click();
  await page.getByRole('textbox', { name: 'Name' }).fill(name);
  await page.getByLabel('Who prints on its printers').selectOption(tenant);
  await page.getByLabel('Its printers', { exact: true }).selectOption(printers);
  await inDialog('Make the code').click();
  await page.getByRole('heading', { name: `The code for ${name}` }).waitFor();
  return (await page.locator('dialog code').textContent()) ?? '';
}

function repeated(agent: RawAgent, what: () => void): void {
  const timer = setInterval(what, 2_000);
  agent.socket.once('close', () => clearInterval(timer));
}

async function joined(place: Enrolment): Promise<RawAgent> {
  const agent = await RawAgent.join(place, { process: 'the-only-one' });
  open.push(agent);
  await agent.next('welcome');
  agent.pings();
  return agent;
}

/** Reports again and again, as an agent does, because the service shows what people decide only with the next report. */
async function reports({ agentId, scope }: Enrolment, agent: RawAgent, printers: object[]): Promise<void> {
  const report = () => {
    const told = {
      ...{ kind: 'agent', agentId, name: 'localhost', version: '1.2.3', at: new Date().toISOString() },
      ...{ online: true, tenantId: scope, printers: printers.map((one) => describePrinter(one)) },
    };
    agent.say({ kind: 'say', entries: [{ i: 1, what: 'told', report: JSON.stringify(told) }] });
  };
  report();
  await agent.next('answers');
  repeated(agent, report);
}

test('a code is shown once, keeps through Escape, and says live what becomes of it', async () => {
  await page.getByRole('heading', { name: 'No agent yet' }).waitFor();
  const url = await invited('Dock Hamburg');
  expect(url).toMatch(/^http:.*#[0-9A-Z]{4}(?:-[0-9A-Z]{4}){3}$/);
  expect(await page.locator('dialog pre').textContent()).toContain(`platen agent enroll '${url}'`);
  await page.getByText('This address works only on the computer that the service runs on.').waitFor();
  const status = page.locator('dialog').getByRole('status');
  await status.getByText('Waiting for it').waitFor();
  for (const key of ['Escape', 'Escape']) await page.keyboard.press(key);
  expect(await page.locator('dialog code').textContent()).toBe(url);
  expect(await barriers(page)).toEqual([]);

  const place = await enrollAgent(url, directories.make());
  await status.getByText('It has enrolled, and is not connected yet: start it there.').waitFor();
  const agent = await joined(place);
  await status.getByText('It has enrolled and is connected. It looks for printers.').waitFor();
  const printers = ['a', 'b', 'c'].map((one) => ({ id: `serial-${one.repeat(12)}`, name: `Zebra ${one}` }));
  await reports(place, agent, printers);
  await status.getByText('It is connected: 3 printers found.').waitFor();
  await inDialog('Close').last().click();
  // The name that the agent gives itself does not count, neither here nor where its printers are shown.
  const known = row('Dock Hamburg');
  for (const text of ['Every workspace', 'Connected', '3 printers', '1.2.3']) {
    await known.getByText(text, { exact: true }).waitFor();
  }
  expect((await service.admin('GET', '/printers')).text).toContain('"name":"Dock Hamburg"');
  agent.socket.terminate();
  await known.getByText('Not connected', { exact: true }).waitFor();
});

test('a code that nobody has used stands in the list, without the code', async () => {
  const url = await invited(HOSTILE, { tenant: 'acme' });
  await inDialog('I have kept it').click();
  const waiting = row(HOSTILE);
  await waiting.getByText('Waiting for it').waitFor();
  await waiting.getByText('Workspace acme').waitFor();
  expect(await page.content()).not.toContain(new URL(url).hash.slice(1));
});

test('printers that wait are counted in the navigation, approved and refused by keyboard, all of it in the audit', async () => {
  const url = await invited('Branch', { tenant: 'acme', printers: 'approve' });
  const place = await enrollAgent(url, directories.make());
  const agent = await joined(place);
  const printers = ['d', 'e', 'f', '0'].map((one) => ({
    ...{ id: `serial-${one.repeat(12)}`, name: one === 'd' ? HOSTILE : `Branch ${one}` },
  }));
  await reports(place, agent, printers);
  await page.getByText('4 printers found, 4 of them wait for approval.').waitFor();
  await inDialog('Close').last().click();
  // It gives the focus back when it is gone.
  await page.locator('dialog').waitFor({ state: 'detached' });
  const link = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: /^Agents/ });
  await link.getByText('4', { exact: true }).waitFor();
  await row('Branch').first().waitFor();

  // The decision is about the ID, and not about the name, which a stranger chose.
  await button(`Approve: ${HOSTILE}`).press('Enter');
  await page.getByText(`Approved: ${HOSTILE} gets its jobs within seconds.`).waitFor();
  await link.getByText('3', { exact: true }).waitFor();
  await button('Refuse: Branch e').press('Enter');
  await page.getByText('Refused printers (1)').click();
  await button('Approve: Branch e').waitFor();
  await pick('Branch', 'Approve its printers …');
  await page.locator('dialog li', { hasText: 'Branch 0' }).waitFor();
  await inDialog('Approve').click();
  await page.getByText('2 printers approved.').waitFor();
  await link.locator('.count').waitFor({ state: 'detached' });
  await row('Branch').getByText('3 printers', { exact: true }).waitFor();

  await pick('Branch', 'Rename …');
  await page.getByRole('textbox', { name: 'Name' }).fill('Filiale Bremen');
  await inDialog('Save').click();
  await row('Filiale Bremen').getByText('Connected', { exact: true }).waitFor();
  await pick('Filiale Bremen', 'Revoke …');
  await inDialog('Revoke').click();
  await row('Filiale Bremen').getByText('Revoked', { exact: true }).waitFor();
  expect(await agent.next('bye')).toMatchObject({ code: 'revoked' });
  const { rows } = await service.pool.query(
    `SELECT what FROM platen.audit WHERE tenant_id = 'acme' AND (object = $1 OR object = 'Branch') ORDER BY at, id`,
    [place.agentId],
  );
  expect(rows.map(({ what }) => what)).toEqual([
    ...['agent.invite', 'agent.enroll', 'agent.printers', 'agent.printers', 'agent.printers'],
    ...['agent.rename', 'agent.revoke'],
  ]);
  await pick('Filiale Bremen', 'Take off the list …');
  expect(await barriers(page)).toEqual([]);
  await inDialog('Take off the list').click();
  await row('Filiale Bremen').waitFor({ state: 'detached' });
});

test('an agent is given to another workspace after a look at what that does, and may stay after all', async () => {
  const place = await enrollAgent(await invited('Ramp', { tenant: 'acme' }), directories.make());
  const agent = await joined(place);
  await inDialog('Close').last().click();
  const whose = page.getByLabel('Who prints on its printers');
  const dialog = page.locator('dialog');
  await pick('Ramp', 'To another workspace …');
  await dialog.getByText('Jobs that wait for its printers stay in the workspace that it leaves').waitFor();
  expect(await inDialog('Have it stay').isDisabled()).toBe(true);
  expect(await barriers(page)).toEqual([]);
  await whose.selectOption('default');
  await inDialog('Move it').click();
  const told = page.getByText('Ramp moves as soon as it has finished what it has in hand, and is connected.');
  await told.waitFor();
  await row('Ramp').getByText('is to change its workspace').waitFor();
  expect(await agent.next('move')).toMatchObject({ scope: 'default' });
  await pick('Ramp', 'To another workspace …');
  await dialog.getByText('It is to change its workspace already').waitFor();
  await inDialog('Have it stay').click();
  await row('Ramp').getByText('is to change its workspace').waitFor({ state: 'detached' });
  const { rows } = await service.pool.query(
    `SELECT tenant_id AS of FROM platen.audit WHERE what = 'agent.move' AND object = $1 ORDER BY at, id`,
    [place.agentId],
  );
  expect(rows.map(({ of }) => of).sort()).toEqual(['acme', 'acme', 'default']);
});

test('a database that is older than its agents is said, and who has enrolled since is let in at once', async () => {
  const later: { place: Enrolment; as: { publicKey: string; state: string } }[] = [];
  for (const name of ['Later 1', 'Later 2']) {
    const { body } = await service.admin('POST', '/agents/invitations', { name, tenant: 'acme' });
    const place = await enrollAgent(invitationMade.parse(body).url, directories.make());
    const publicKey = createPublicKey(place.privateKey).export({ format: 'jwk' }).x ?? '';
    const agent = await RawAgent.join(place, { publicKey });
    const { state } = await agent.next('welcome');
    agent.socket.terminate();
    later.push({ place, as: { publicKey, state: String(state) } });
  }
  // Now the database is as after the restore of a back-up that is older than both agents.
  await service.pool.query("DELETE FROM platen.enrolled_agents WHERE name LIKE 'Later%'");
  const come = async () => {
    for (const { place, as } of later) {
      const agent = await RawAgent.join(place, as);
      open.push(agent);
      expect(await agent.next('bye')).toMatchObject({ code: 'stale' });
    }
  };
  await come();
  const note = page.locator('.note', { hasText: 'database was restored to an earlier time' });
  await note.getByText('2 agents had not been invited yet at that time, and wait to be let in.').waitFor();
  await row('Later 2')
    .getByText(/^It showed an old state/)
    .waitFor();
  await button('Let them in …').click();
  await page.locator('dialog li', { hasText: 'Later 2' }).waitFor();
  expect(await barriers(page)).toEqual([]);
  await inDialog('Let them in').click();
  await page.getByText('2 agents are let in with the next try, within a minute.').waitFor();
  await button('Let them in …').waitFor({ state: 'detached' });
  for (const { place, as } of later) {
    const agent = await RawAgent.join(place, as);
    open.push(agent);
    expect(await agent.next('welcome')).toMatchObject({ scope: 'acme', journalLost: true });
  }
});

test('an admin of a workspace keeps its own agents, and sees no more of the shared ones than their state', async () => {
  const invitation = await service.admin('POST', '/tenants/acme/people', { login: 'eve', role: 'admin' });
  const { url } = invitationCreated.parse(invitation.body);
  await service.call('/app/invitations/accept', {
    body: { token: tokenIn(url), password: PASSWORD },
    headers: { [CONSOLE_HEADER]: '1' },
  });
  const eve = await newPage();
  await show(eve, 'start');
  await eve.getByLabel('Workspace').fill('acme');
  await eve.getByLabel('Name or e-mail address').fill('eve');
  await eve.getByLabel('Password').fill(PASSWORD);
  await button('Sign in', eve).first().click();
  await eve.locator('nav').first().waitFor();
  await show(eve);
  await row('Dock Hamburg', eve).getByText('Every workspace').waitFor();
  expect(await button('More: Dock Hamburg', eve).count()).toBe(0);
  expect(await row('Filiale Bremen', eve).getByText('Workspace').count()).toBe(0);
  await button('Invite …', eve).first().click();
  await eve.getByRole('textbox', { name: 'Name' }).fill('Hall 2');
  expect(await eve.getByLabel('Who prints on its printers').count()).toBe(0);
  await inDialog('Make the code', eve).click();
  const place = await enrollAgent((await eve.locator('dialog code').textContent()) ?? '', directories.make());
  expect(place).toMatchObject({ name: 'Hall 2', scope: 'acme' });
  await eve.getByText('It has enrolled, and is not connected yet: start it there.').waitFor();
  await inDialog(/^(?:I have kept it|Close)$/, eve)
    .last()
    .click();
  await button('More: Hall 2', eve).click();
  const deeds = await eve.getByRole('menuitem').allTextContents();
  expect(deeds).toEqual(['Rename …', 'Revoke …']);
  await eve.context().close();
});

test.for([
  { width: 360, locale: 'de-DE' },
  { width: 820, locale: 'de-DE', scheme: 'dark' },
  { width: 1440, scheme: 'dark' },
] as const)('fits a window of $width px', async (look) => {
  const place = await enrollAgent(
    await (async () => {
      const of = await invited('Rampe am Südtor der Spedition Nord-West', { printers: 'approve' });
      await inDialog('I have kept it').click();
      return of;
    })(),
    directories.make(),
  );
  await reports(place, await joined(place), [{ id: `serial-${look.width}000000000`, name: 'Zebra ZD621' }]);
  const narrow = await window(look);
  const approve = /^(?:Approve|Freigeben): Zebra ZD621$/;
  await button(approve, narrow).first().waitFor();
  expect([await overflow(narrow), await barriers(narrow)]).toEqual([0, []]);
  await button(/^(?:Invite|Einladen) …$/, narrow)
    .first()
    .click();
  await narrow.getByRole('textbox', { name: 'Name' }).waitFor();
  expect([await overflow(narrow), await barriers(narrow)]).toEqual([0, []]);
  await narrow.context().close();
});
