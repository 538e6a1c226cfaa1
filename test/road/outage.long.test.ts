/** What a service and an agent do, as processes, while the servers that they need break, are away, or come late. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { Client } from 'pg';
import { describe, expect, test } from 'vitest';
import { AdminClient } from '../../src/cli/admin-client.ts';
import { VirtualZplPrinter } from '../../src/virtual/zpl/zpl-printer.ts';
import { type Host, testOnHost, useHost } from '../kit/service/use-host.ts';
import { BreakableRoad } from '../kit/wire/breakable-road.ts';

const ADMIN_TOKEN = 'admin-token-for-tests-0123456789';
const TEMPLATE = {
  name: 'plain',
  width: 50,
  height: 25,
  elements: [{ type: 'text', x: 4, y: 4, width: 40, height: 8, size: 5, text: 'plain' }],
};

const host = useHost();
const { programs } = host;

/** A road to a server that can be closed. */
async function roadTo(address = ''): Promise<BreakableRoad & { url: string }> {
  const url = new URL(address);
  const road = new BreakableRoad(url.hostname, Number(url.port));
  await road.open();
  url.port = String(road.port);
  return Object.assign(road, { url: url.href });
}

const env = ({ env }: Host = host) => ({ ...env, PLATEN_ADMIN_TOKEN: ADMIN_TOKEN });

const MEDIA = { dpi: 203, width: 50, height: 25 } as const;
const dataDir = (name: string) => host.path(name);

test('connections that the database ends under load, in the middle of transactions, end no service', async () => {
  const up = programs.start(['up', '--data', dataDir('up'), '--port', '0', '--virtual-speed', '100'], env());
  await up.until(() => up.said().includes('platen is ready'));
  const admin = new AdminClient({ url: up.url, adminToken: ADMIN_TOKEN });
  const { id } = await admin.importTemplate('default', TEMPLATE);
  const accepted: string[] = [];
  let attempts = 0;
  let over = false;
  const posters = Array.from({ length: 4 }, async () => {
    while (!over) {
      const jobId = await admin.print('default', { idT: id, printer: 'virtual-1' }).catch(() => undefined);
      if (jobId !== undefined) accepted.push(jobId);
      attempts += 1;
    }
  });
  const killer = new Client({ connectionString: host.databaseUrl });
  await killer.connect();
  try {
    await up.until(() => accepted.length > 0);
    for (let round = 0; round < 100; round += 1) {
      // One of four attempts has ended, so three are in the middle: to cut on and on would let nobody connect at all.
      const seen = attempts;
      await killer.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()`,
      );
      await up.until(() => attempts > seen);
    }
  } finally {
    over = true;
    await killer.end();
    await Promise.all(posters);
  }
  const known = new Set((await admin.jobs({ limit: 1000 })).map((job) => job.id));
  for (const jobId of accepted) expect(known).toContain(jobId);
  up.kill('SIGTERM');
  expect(await up.exited(30_000)).toBe(0);
});

// They wait much longer than they work.
describe.concurrent('side by side', () => {
  testOnHost.for([
    ['agent', 'back'],
    ['agent', 'still away'],
    ['up', 'back'],
    ['up', 'still away'],
  ] as const)(
    '%s, told to stop after Redis was away for longer than a lease and is %s',
    async ([command, then], { host, expect }) => {
      const road = await roadTo(host.redisUrl);
      host.running({ stop: () => road.close() });
      const printer = new VirtualZplPrinter({ name: 'away', outDir: host.path('labels'), ...MEDIA });
      await printer.start();
      host.running(printer);
      const config = host.path('agent.json');
      await writeFile(config, JSON.stringify({ timings: { lease: 4_000 } }));
      const args = {
        agent: ['agent', '--config', config],
        up: ['up', '--port', '0', '--virtual', '0', '--agent-config', config],
      }[command];
      const program = host.programs.start(
        [...args, '--data', host.path('data'), '--printer', `socket://127.0.0.1:${printer.port}`],
        { ...env(host), REDIS_URL: road.url, ...(command === 'agent' && { DATABASE_URL: undefined }) },
      );
      await program.until(() => program.said().includes('this agent serves the printer'));
      await road.close();
      await program.until(() => program.said().includes('does not serve the printer any more'));
      if (then === 'back') {
        await road.open();
        await program.until(() => /does not serve.*this agent serves the printer/s.test(program.said()));
      }
      program.kill('SIGTERM');
      expect(await program.exited(40_000)).toBe(0);
      expect(program.said()).not.toMatch('what is open still');
    },
  );

  testOnHost.for(['closed', 'silent'] as const)(
    'a service ends while its database is %s',
    async (outage, { host, expect }) => {
      const road = await roadTo(host.databaseUrl);
      host.running({ stop: () => road.close() });
      const server = host.programs.start(['server', '--data', host.path('data'), '--port', '0'], {
        ...env(host),
        DATABASE_URL: road.url,
      });
      await server.until(() => server.said().includes('platen is ready'));
      if (outage === 'closed') await road.close();
      else road.silence();
      // A sweep is under way, or about to be.
      await fetch(`${server.url}/readyz`).catch(() => undefined);
      server.kill('SIGTERM');
      expect(await server.exited(50_000)).toBe(0);
      expect(server.said()).not.toMatch('what is open still');
    },
  );

  testOnHost('an agent waits for Redis, and then prints', async ({ host }) => {
    const road = await roadTo(host.redisUrl);
    await road.close();
    host.running({ stop: () => road.close() });
    const { programs } = host;
    const up = programs.start(['up', '--data', host.path('up'), '--port', '0', '--virtual', '0'], env(host));
    const printer = new VirtualZplPrinter({ name: 'early', outDir: host.path('labels'), ...MEDIA });
    await printer.start();
    host.running(printer);
    const agent = programs.start(
      ['agent', '--data', host.path('agent'), '--printer', `socket://127.0.0.1:${printer.port}`],
      { PLATEN_QUEUE_PREFIX: host.env.PLATEN_QUEUE_PREFIX, REDIS_URL: road.url },
    );
    await agent.until(() => agent.said().includes(`waiting for Redis at 127.0.0.1:${road.port}`));
    await up.until(() => up.said().includes('platen is ready'));
    await road.open();
    await agent.until(() => agent.said().includes('this agent serves the printer'));
    const admin = new AdminClient({ url: up.url, adminToken: ADMIN_TOKEN });
    const { id } = await admin.importTemplate('default', { ...TEMPLATE, name: 'early' });
    const served = async () =>
      (await admin.printers()).find(({ agents }) => agents.some(({ online }) => online));
    await up.until(async () => (await served()) !== undefined);
    const printerId = (await served())?.id ?? '';
    const jobId = await admin.print('default', { idT: id, printerId });
    await up.until(async () => (await admin.job(jobId)).status === 'printed');
  });

  testOnHost(
    'a service is missed by an agent on another prefix, which says where it is, and heard by one on the same',
    async ({ host, expect }) => {
      const { programs } = host;
      const server = programs.start(['server', '--data', host.path('heard'), '--port', '0'], env(host));
      await server.until(() => server.said().includes('platen is ready'));
      const missed = 'no service takes the reports';
      const agent = (prefix: string) =>
        programs.start(['agent', '--data', host.path(`agent on ${prefix}`)], {
          REDIS_URL: host.redisUrl,
          PLATEN_QUEUE_PREFIX: prefix,
        });
      const [astray, right] = [agent('elsewhere'), agent(host.env.PLATEN_QUEUE_PREFIX)];
      await astray.until(() => astray.said().includes(missed));
      expect(astray.said()).toMatch(
        /^agent \S+ runs, on Redis at 127\.0\.0\.1:\d+ with the prefix "elsewhere"$/m,
      );
      await right.until(() => right.said().includes(' runs'));
      const admin = new AdminClient({ url: server.url, adminToken: ADMIN_TOKEN });
      await right.until(async () => (await admin.agents()).some(({ online }) => online));
      expect(right.said()).not.toContain(missed);
      server.kill('SIGTERM');
      await server.exited();
      // At its next heartbeat.
      await right.until(() => right.said().includes(missed));
    },
  );
});

describe('before their servers are there', () => {
  test.each(['closed', 'silent'] as const)(
    'a service waits for a database that is %s, and is ready when it is there',
    async (outage) => {
      const road = await roadTo(host.databaseUrl);
      if (outage === 'closed') await road.close();
      else road.silence();
      const name = `late database ${outage}`;
      const readyFile = dataDir(`${name}.ready`);
      const places = { ...env(), DATABASE_URL: road.url };
      const args = ['up', '--data', dataDir(name), '--port', '0', '--ready-file', readyFile];
      const up = programs.start(args, places);
      await up.until(() => up.said().includes(`waiting for PostgreSQL at 127.0.0.1:${road.port}`));
      expect(existsSync(readyFile)).toBe(false);
      await road.close();
      await road.open();
      await up.until(() => up.said().includes('platen is ready'));
      expect(existsSync(readyFile)).toBe(true);
      await road.close();
    },
  );

  test.each([
    ['Redis', { REDIS_URL: 'redis://127.0.0.1:1' }],
    ['PostgreSQL', { REDIS_URL: undefined, DATABASE_URL: 'postgresql://x:y@127.0.0.1:1/z' }],
  ])('SIGTERM ends one that waits for %s', async (server, places) => {
    const args = ['server', '--data', dataDir(`waits for ${server}`), '--port', '0'];
    const program = programs.start(args, { ...env(), ...places });
    await program.until(() => program.said().includes(`waiting for ${server} at 127.0.0.1:1`));
    program.kill('SIGTERM');
    expect(await program.exited()).toBe(0);
    expect(program.said()).not.toMatch('what is open still');
  });

  test.each([
    ['a wrong password for PostgreSQL', 'DATABASE_URL', 'tester', /password authentication failed/],
    ['a database that does not exist', 'DATABASE_URL', 'no-such-database', /does not exist/],
    ['a wrong password for Redis', 'REDIS_URL', 'default', /refuses us: WRONGPASS/],
  ] as const)('%s is said, and not waited out', async (_what, variable, wrong, message) => {
    const url = new URL(env()[variable] ?? '');
    if (wrong === 'no-such-database') url.pathname = `/${wrong}`;
    else url.password = 'wrong';
    const args = ['server', '--data', dataDir('refused'), '--port', '0'];
    const program = programs.start(args, { ...env(), [variable]: url.href });
    expect(await program.exited(20_000)).toBe(1);
    expect(program.said()).toMatch(message);
  });
});

describe('a service that is running', () => {
  test.each([
    ['REDIS_URL', 'the queue cannot be reached'],
    ['DATABASE_URL', 'the database does not answer'],
  ] as const)('is not ready without its %s, and ready again with it', async (variable, detail) => {
    const road = await roadTo(env()[variable]);
    const args = ['server', '--data', dataDir(`ready ${variable}`), '--port', '0'];
    const server = programs.start(args, { ...env(), [variable]: road.url });
    await server.until(() => server.said().includes('platen is ready'));
    const { url } = server;
    const readiness = async () => {
      // A load balancer does not wait for long.
      const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(4_000) });
      return [answer.status, (await answer.text()).includes(detail)];
    };
    expect(await readiness()).toEqual([200, false]);
    for (const outage of ['closed', 'silent'] as const) {
      if (outage === 'closed') await road.close();
      else road.silence();
      await expect.poll(readiness, { timeout: 10_000 }).toEqual([503, true]);
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
      await road.close();
      await road.open();
      await expect.poll(readiness, { timeout: 30_000 }).toEqual([200, false]);
    }
    await road.close();
  });
});

test('a log that cannot be written, on a full disk, costs its lines and not the process', async () => {
  const shell = programs.shell('exec "$PLATEN" virtual --port 0 --out "$OUT" 2>/dev/full', {
    OUT: dataDir('labels'),
  });
  await shell.until(() => shell.said().includes('listens at'));
  shell.kill('SIGTERM');
  expect(await shell.exited()).toBe(0);
});
