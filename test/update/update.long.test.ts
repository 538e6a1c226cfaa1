/** `platen update` on a machine that lays its versions side by side: real versions, a real agent, a printer. */
import { generateKeyPairSync } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { readStatus } from '../../src/agent/status-file.ts';
import { STEPS } from '../../src/cli/update/steps.ts';
import { Clock } from '../kit/programs/clock.ts';
import { listeningForTest } from '../kit/wire/listening.ts';
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

/** Which versions' updates went back, as the service's list of agents says it: its own agent is one of them. */
const wentBackFrom = async () =>
  (await site.service.admin.agents()).flatMap((agent) => agent.wentBackFrom ?? []);

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
    await expect.poll(wentBackFrom, { timeout: 30_000 }).toEqual([version]);
    await printsOne();
    const again = site.update(bad, null);
    expect(await again.exited(30_000)).toBe(1);
    expect(again.said()).toContain('tried-before');
    expect(site.home.current).toBe(FIRST);
  },
  120_000,
);

test('the clock is set back by an hour meanwhile: the new version is known for the new one', async () => {
  const clock = new Clock(join(site.directory, 'clock'));
  await site.launch(clock.env);
  clock.set(-3_600);
  const updating = site.update(next, null);
  expect(await updating.exited(90_000), updating.said()).toBe(0);
  expect(updating.said()).toContain('"result":"updated"');
  expect(Date.parse(readStatus(site.dataDir)?.startedAt ?? '')).toBeLessThan(Date.now() - 1_800_000);
  await site.launch();
}, 120_000);

test('only one update runs at a time', async () => {
  const first = site.update(next, null);
  await first.until(() => first.said().includes('step unpack'));
  const second = site.update(next, null);
  expect(await second.exited(30_000)).toBe(1);
  expect(second.said()).toContain('already-running');
  expect(await first.exited(90_000), first.said()).toBe(0);
}, 120_000);

test('what takes the place of a file is on the disk before: power may fail at any time', async () => {
  const trace = join(site.directory, 'trace');
  const calls = 'trace=fsync,fdatasync,rename,renameat,renameat2';
  const updating = site.update(next, null, { within: ['strace', '-f', '-y', '-o', trace, '-e', calls] });
  expect(await updating.exited(120_000), updating.said()).toBe(0);
  const lines = readFileSync(trace, 'utf8').split('\n');
  const placed = lines.flatMap((line, at) => {
    const [, from] = /rename\w*\([^"]*"([^"]+\.new)"/.exec(line) ?? [];
    return from === undefined
      ? []
      : [
          {
            from,
            synced: lines.slice(0, at).some((one) => one.includes(`sync(`) && one.includes(`<${from}>`)),
          },
        ];
  });
  const files = placed.filter(({ from }) => !/(current|status\.json)\.new$/.test(from));
  expect(files.map(({ from }) => from.replace(/.*\//, '')).sort()).toEqual(['launch.new', 'pending.new']);
  expect(files.filter(({ synced }) => !synced)).toEqual([]);
}, 180_000);

/** A home on a small disk of its own, which is full or cannot be written to. */
const SMALL_DISK = `mount -t tmpfs -o size=1m tmpfs "$1"
mkdir "$1/${FIRST}"
echo '{"name":"platen-agent","version":"${FIRST}"}' > "$1/${FIRST}/package.json"
ln -s ${FIRST} "$1/current"
[ "$2" = full ] || mount -o remount,ro "$1"
shift 2
exec "$@"`;

test.skipIf(process.getuid?.() !== 0).each([
  ['full', 'no-room', /has 1 MB left; the update needs \d+ MB/],
  ['read-only', 'not-allowed', /cannot be written to: run it as root/],
] as const)('a disk that is %s is said before anything is fetched', async (disk, code, why) => {
  const sh = ['unshare', '--mount', 'sh', '-ec', SMALL_DISK, 'sh', site.home.directory, disk];
  const updating = site.update(next, null, { within: sh });
  expect(await updating.exited(60_000)).toBe(1);
  expect(updating.said()).toMatch(why);
  expect(updating.said()).toContain(code);
  expect(updating.said()).not.toContain('step unpack');
});

test('a server that ends in the middle, and one that gives more than was signed', async () => {
  const archive = readFileSync(next.replace('.update.json', '.tar.gz'));
  const server = createServer((request, response) => {
    if (request.url?.endsWith('.json')) return void response.end(readFileSync(next));
    if (request.url?.startsWith('/short/')) {
      response.writeHead(200, { 'content-length': archive.length });
      return void response.write(archive.subarray(0, 1_000), () => response.destroy());
    }
    response.write(archive);
    response.end('more');
  });
  const port = await listeningForTest(server);
  for (const [way, code] of [
    ['short', 'not-reached'],
    ['long', 'archive-wrong'],
  ]) {
    const updating = site.update(`http://127.0.0.1:${port}/${way}/${basename(next)}`, null);
    expect(await updating.exited(60_000)).toBe(1);
    expect(updating.said()).toContain(code);
    expect(site.home.current).toBe(FIRST);
    expect(readdirSync(site.home.notes).filter((name) => /part|new/.test(name))).toEqual([]);
  }
}, 120_000);

test('a version that does not come up goes back, also when the update that brought it was killed', async () => {
  const bad = site.make('1.4.0', 'ends at once');
  const killed = site.update(bad, 'watch');
  expect(await killed.exited(90_000)).toBeNull();
  const deadline = Date.now() + 60_000;
  while (site.home.current !== FIRST && Date.now() < deadline) await pause(50);
  expect(site.home.bad).toContain('1.4.0');
  expect(site.home.current).toBe(FIRST);
  await site.works(FIRST);
  await expect.poll(wentBackFrom, { timeout: 30_000 }).toEqual(['1.4.0']);
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
  await refused(site.makeEmpty('1.5.0', undefined, 'platen'), /not-for-us/);
  await refused(join(site.directory, 'nowhere.update.json'), /not-reached/);
}, 240_000);
