/** `platen update` on a machine that lays its versions side by side: real versions, a real agent, a printer. */
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { STEPS } from '../../src/cli/update/steps.ts';
import { FIRST, VersionSite } from './version-site.ts';

const NEXT = '1.1.0';
const site = new VersionSite();
let next: string;
beforeAll(async () => {
  await site.start();
  next = site.make(NEXT);
}, 240_000);
afterAll(() => site.stop(), 60_000);

/** As it was before, for the next test. */
afterEach(async () => {
  const { home } = site;
  home.end();
  if (home.current !== FIRST) home.pointTo(FIRST);
  if (site.running !== FIRST)
    process.kill(Number(readFileSync(join(home.notes, 'launcher.pid'), 'utf8')), 'SIGHUP');
  await site.works(FIRST);
}, 60_000);

async function printsOne(): Promise<void> {
  const before = site.printed;
  const job = await site.post(1);
  expect(await site.service.ended(job)).toMatchObject({ status: 'printed' });
  expect(site.printed).toBe(before + 1);
}

test('in the middle of a job: it goes on with the new version, no label is lost, and none printed twice', async () => {
  const before = site.printed;
  const job = await site.post(40);
  while (site.printed < before + 3) await pause(20);
  const updating = site.update(next, null);
  expect(await updating.exited(90_000), updating.said()).toBe(0);
  expect(updating.said()).toContain(`{"from":"${FIRST}","to":"${NEXT}","result":"updated"}`);
  expect(site.running).toBe(NEXT);
  expect(await site.service.ended(job)).toMatchObject({ status: 'printed' });
  expect(site.printed).toBe(before + 40);
  expect(site.home.versions.sort()).toEqual([FIRST, NEXT]);
  expect(site.home.trial).toBeNull();
}, 180_000);

const WAY = STEPS.filter((step) => step !== 'unfinished' && !step.startsWith('back-'));
test.each(WAY)(
  'killed at "%s" it leaves a machine that prints, and the next try succeeds',
  async (step) => {
    const killed = site.update(next, step);
    expect(await killed.exited(90_000)).toBeNull();
    expect(killed.said()).toContain(`step ${step}`);
    // Whichever the link leads to lies there whole.
    expect([FIRST, NEXT]).toContain(readlinkSync(join(site.home.directory, 'current')));
    await site.works(FIRST, NEXT);
    await printsOne();
    const again = site.update(next, null);
    expect(await again.exited(90_000), again.said()).toBe(0);
    expect(site.home.current).toBe(NEXT);
    await site.works(NEXT);
    expect(site.home.trial).toBeNull();
  },
  180_000,
);

test.each(['ends at once', 'does nothing'] as const)(
  'a version that %s goes back by itself, and is not tried again',
  async (fault) => {
    const version = fault === 'ends at once' ? '1.2.0' : '1.3.0';
    const bad = site.make(version, fault);
    const updating = site.update(bad, null, { patienceMs: 12_000 });
    expect(await updating.exited(90_000)).toBe(1);
    expect(updating.said()).toContain(`${version} did not come up`);
    expect(site.home.current).toBe(FIRST);
    await site.works(FIRST);
    await printsOne();
    const again = site.update(bad, null);
    expect(await again.exited(30_000)).toBe(1);
    expect(again.said()).toContain('tried-before');
    expect(site.home.current).toBe(FIRST);
  },
  120_000,
);

test('a version that does not come up goes back, also when the update that brought it was killed', async () => {
  const bad = site.make('1.4.0', 'ends at once');
  const killed = site.update(bad, 'watch');
  expect(await killed.exited(90_000)).toBeNull();
  const deadline = Date.now() + 60_000;
  while (site.home.current !== FIRST && Date.now() < deadline) await pause(50);
  expect(site.home.bad).toContain('1.4.0');
  expect(site.home.current).toBe(FIRST);
  await site.works(FIRST);
  await printsOne();
}, 120_000);

test('what is not signed, not whole, older, or for another machine is not installed', async () => {
  const refused = async (source: string, why: RegExp) => {
    const updating = site.update(source, null);
    expect(await updating.exited(60_000)).toBe(1);
    expect(updating.said()).toMatch(why);
    expect([site.home.current, site.home.versions.includes('1.5.0')]).toEqual([FIRST, false]);
  };
  const { privateKey } = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  await refused(site.makeEmpty('1.5.0', privateKey), /not-signed/);

  const good = site.makeEmpty('1.5.0');
  const text = readFileSync(good, 'utf8');
  writeFileSync(good, text.replace('1.5.0', '1.6.0'));
  await refused(good, /not-signed/);
  writeFileSync(good, '{}');
  await refused(good, /unreadable/);
  writeFileSync(good, text);

  const archive = good.replace('.update.json', '.tar.gz');
  const bytes = readFileSync(archive);
  const middle = Math.floor(bytes.length / 2);
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  writeFileSync(archive, bytes);
  await refused(good, /archive-wrong/);
  writeFileSync(archive, bytes.subarray(0, middle));
  await refused(good, /archive-wrong/);

  await refused(site.makeEmpty('0.9.0'), /older-version/);
  await refused(join(site.directory, 'nowhere.update.json'), /not-reached/);
}, 240_000);
