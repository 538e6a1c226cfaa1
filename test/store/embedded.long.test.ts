import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  watch,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import { describe, expect, it } from 'vitest';
import { startEmbedded } from '../../src/server/store/embedded.ts';
import { EmbeddedError } from '../../src/server/store/embedded-error.ts';
import { runServer } from '../../src/server/store/embedded-server.ts';
import { queried } from '../kit/servers/backends.ts';
import {
  ask,
  databaseProcesses,
  freshDirectory,
  gone,
  startParent,
  useParents,
} from '../kit/servers/embedded-parents.ts';

useParents();

/** What a process shows to others; of one that has ended meanwhile, as that of a connection does, nothing. */
function shownOf(dataDir: string, pid: number): string[] {
  try {
    return ['cmdline', 'environ'].map((file) => readFileSync(`/proc/${pid}/${file}`, 'utf8'));
  } catch (error) {
    if (!databaseProcesses(dataDir).includes(pid)) return [];
    throw error;
  }
}

describe('the embedded PostgreSQL', () => {
  it('makes its cluster, answers with the safe settings, and ends when stopped', async () => {
    const dataDir = freshDirectory();
    const database = await startEmbedded({ dataDir, poolSize: 500 });
    const client = new Client(database.poolConfig);
    await client.connect();
    const { rows } = await client.query(
      `SELECT current_setting('server_version_num')::int / 10000 AS major, current_setting('fsync') AS fsync,
              current_setting('full_page_writes') AS pages, current_setting('synchronous_commit') AS commit,
              current_setting('max_connections')::int AS connections, current_setting('listen_addresses') AS addresses,
              pg_encoding_to_char(encoding) AS encoding
         FROM pg_database WHERE datname = current_database()`,
    );
    expect(rows).toEqual([
      {
        major: 18,
        fsync: 'on',
        pages: 'on',
        commit: 'on',
        connections: 550,
        addresses: '',
        encoding: 'UTF8',
      },
    ]);
    await client.end();
    await database.stop();
    await database.stop();
    expect(databaseProcesses(dataDir)).toEqual([]);
  });

  it('asks for the password, which only its owner can read and no process shows', async () => {
    const dataDir = freshDirectory();
    const database = await startEmbedded({ dataDir });
    try {
      const intruder = new Client({ ...database.poolConfig, password: 'guessed' });
      await expect(intruder.connect()).rejects.toMatchObject({ code: '28P01' });
      const file = join(dataDir, 'postgres.key');
      const ownerPassword = readFileSync(file, 'utf8').trim();
      expect(statSync(file).mode & 0o077).toBe(0);
      expect(statSync(join(dataDir, 'postgres')).mode & 0o077).toBe(0);
      const shown = databaseProcesses(dataDir).flatMap((pid) => shownOf(dataDir, pid));
      expect(shown.length).toBeGreaterThanOrEqual(4);
      expect(shown.join()).not.toContain(database.poolConfig.password);
      expect(shown.join()).not.toContain(ownerPassword);
    } finally {
      await database.stop();
    }
  });

  it('logs neither the values nor the text of a statement that fails', async () => {
    const dataDir = freshDirectory();
    const lines: string[] = [];
    const keep = (fields: object, message: string) => lines.push(`${message} ${JSON.stringify(fields)}`);
    const database = await startEmbedded({
      dataDir,
      logger: { debug: keep, info: keep, warn: keep, error: keep },
    });
    const wrong = queried(database.poolConfig, `SELECT 'Jane Doe, blood group 0'::integer`);
    await expect(wrong).rejects.toMatchObject({ code: '22P02' });
    await database.stop();
    expect(lines.join('\n')).toContain('ready to accept connections');
    expect(lines.join('\n')).not.toContain('Jane Doe');
    expect(lines.join('\n')).not.toContain(database.poolConfig.password);
  });

  it('reaches a data directory whose path is too long for a socket', async () => {
    const top = freshDirectory();
    const dataDir = join(top, 'long'.repeat(20), 'longer'.repeat(10));
    const database = await startEmbedded({ dataDir });
    expect(await queried(database.poolConfig, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await database.stop();
    expect(existsSync(database.poolConfig.host)).toBe(false);
  });

  it.each([
    {
      what: 'a link to a directory',
      put: (way: string, data: string) => {
        const directory = freshDirectory();
        symlinkSync(data, join(directory, 's'));
        symlinkSync(directory, way);
      },
    },
    {
      what: 'a directory with another link',
      put: (way: string) => {
        mkdirSync(way, { mode: 0o700 });
        symlinkSync(freshDirectory(), join(way, 's'));
      },
    },
    {
      what: "another user's directory",
      put: (way: string, data: string) => {
        mkdirSync(way, { mode: 0o700 });
        symlinkSync(data, join(way, 's'));
        if (process.getuid?.() === 0) chownSync(way, 1, 1);
        else chmodSync(way, 0o777);
      },
    },
  ])('refuses $what in the place of its short way to the socket', async ({ put }) => {
    const data = freshDirectory();
    const way = join(freshDirectory(), 'way');
    put(way, data);
    const connection = { host: join(way, 's'), port: 5432, user: 'x', password: 'x', database: 'x' };
    const running = runServer({
      data,
      binaries: { postgres: 'true', initdb: 'true', pgCtl: 'true' },
      runAs: undefined,
      address: { host: join(way, 's'), port: 5432, shortWay: way },
      owner: connection,
      service: connection,
      onLine: () => undefined,
      startTimeoutMs: 10_000,
      poolSize: 16,
      signal: undefined,
    });
    await expect(running).rejects.toMatchObject({ code: 'directory-unusable' });
  });

  it('refuses a second start at once, naming the process that has the directory', async () => {
    const dataDir = freshDirectory();
    const { child, answer } = await startParent(dataDir);
    expect(answer.error).toBeUndefined();
    await expect(startEmbedded({ dataDir })).rejects.toThrow(`is in use by Platen process ${child.pid}`);
    const second = await startParent(dataDir);
    expect(second.answer).toMatchObject({ error: 'directory-in-use' });
  });

  it('refuses a second start within the same process', async () => {
    const dataDir = freshDirectory();
    const database = await startEmbedded({ dataDir });
    await expect(startEmbedded({ dataDir })).rejects.toMatchObject({
      code: 'directory-in-use',
      retrySafe: true,
    });
    await database.stop();
    const again = await startEmbedded({ dataDir });
    await again.stop();
  });

  it('ends when its parent is killed, and has everything at the next start', async () => {
    const dataDir = freshDirectory();
    const first = await startParent(dataDir, 'before the kill');
    expect(databaseProcesses(dataDir).length).toBeGreaterThan(1);
    first.child.kill('SIGKILL');
    await gone(dataDir, 5_000);
    const second = await startParent(dataDir, 'after the restart');
    expect(second.answer.kept).toEqual(['after the restart', 'before the kill']);
  });

  it('starts straight after a kill, while the old database is still ending', async () => {
    const dataDir = freshDirectory();
    const first = await startParent(dataDir, 'one');
    const exited = once(first.child, 'exit');
    first.child.kill('SIGKILL');
    await exited;
    const second = await startParent(dataDir, 'two');
    expect(second.answer.kept).toEqual(['one', 'two']);
  });

  it('stops a database that survived both its parent and its supervisor', async () => {
    const dataDir = freshDirectory();
    const first = await startParent(dataDir, 'one');
    const { pid = 0 } = first.answer;
    const supervisor = Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1]);
    process.kill(supervisor, 'SIGKILL');
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    expect(databaseProcesses(dataDir)).toContain(pid);
    const second = await startParent(dataDir, 'two');
    expect(second.answer.kept).toEqual(['one', 'two']);
    expect(databaseProcesses(dataDir)).not.toContain(pid);
  });

  it.each(['SIGKILL', 'SIGQUIT', 'SIGTERM'] as const)(
    'starts again, with all that was committed and at the same address, when %s ends it',
    async (signal) => {
      const dataDir = join(freshDirectory(), 'long'.repeat(20), 'longer'.repeat(10));
      const database = await startEmbedded({ dataDir });
      await ask(database.poolConfig, 'CREATE SCHEMA test; CREATE TABLE test.kept AS SELECT 1 AS one');
      const { pid } = database;
      process.kill(pid, signal);
      const kept = () => ask(database.poolConfig, 'SELECT one FROM test.kept').catch(() => undefined);
      await expect.poll(kept, { timeout: 20_000 }).toEqual([{ one: 1 }]);
      await expect.poll(() => database.pid, { timeout: 20_000 }).not.toBe(pid);
      await database.stop();
      expect(databaseProcesses(dataDir)).toEqual([]);
    },
  );

  it('starts again when it is killed at its first start', async () => {
    const dataDir = freshDirectory();
    const before = await startEmbedded({ dataDir });
    await ask(before.poolConfig, 'CREATE SCHEMA test; CREATE TABLE test.kept AS SELECT 1 AS one');
    await before.stop();
    const killed: number[] = [];
    const data = join(dataDir, 'postgres/data');
    const files = watch(data, (_event, name) => {
      if (name !== 'postmaster.pid' || killed.length > 0) return;
      const pid = Number.parseInt(readFileSync(join(data, name), 'utf8'), 10);
      if (!(pid > 0)) return;
      killed.push(pid);
      process.kill(pid, 'SIGKILL');
    });
    const database = await startEmbedded({ dataDir });
    files.close();
    expect(killed).toHaveLength(1);
    expect(killed).not.toContain(database.pid);
    expect(await ask(database.poolConfig, 'SELECT one FROM test.kept')).toEqual([{ one: 1 }]);
    await database.stop();
    expect(databaseProcesses(dataDir)).toEqual([]);
  });

  it('stops while it is starting again', async () => {
    const dataDir = freshDirectory();
    const database = await startEmbedded({ dataDir });
    process.kill(database.pid, 'SIGKILL');
    await wait(30);
    await database.stop();
    await gone(dataDir, 5_000);
    const next = await startEmbedded({ dataDir });
    await next.stop();
  });

  it('says why when it ends by itself and cannot be started again', async () => {
    const dataDir = freshDirectory();
    const lost = Promise.withResolvers<EmbeddedError>();
    const database = await startEmbedded({ dataDir, onLost: lost.resolve });
    rmSync(join(dataDir, 'postgres/data/global/pg_control'));
    process.kill(database.pid, 'SIGKILL');
    const error = await lost.promise;
    expect(error).toMatchObject({ code: 'lost' });
    expect(error.message).toMatch(/is lost: PostgreSQL ended at its start: .*pg_control/);
    await database.stop();
    // The directory is free.
    await expect(startEmbedded({ dataDir })).rejects.toMatchObject({ code: 'start-failed' });
  });

  it('gives the service a role that owns its schemas, and is nothing beside that', async () => {
    const dataDir = freshDirectory();
    const database = await startEmbedded({ dataDir });
    const service = database.poolConfig;
    expect(
      await ask(
        service,
        `SELECT rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls FROM pg_roles
         WHERE rolname = current_user`,
      ),
    ).toEqual([
      {
        rolsuper: false,
        rolcreatedb: false,
        rolcreaterole: false,
        rolreplication: false,
        rolbypassrls: false,
      },
    ]);
    for (const statement of [
      'CREATE TABLE public.mine (a int)',
      `COPY (SELECT 1) TO PROGRAM 'true'`,
      `SELECT pg_read_file('postgresql.conf')`,
      'SELECT * FROM pg_authid',
      `ALTER ROLE platen PASSWORD 'x'`,
      'CREATE ROLE other',
      'DROP DATABASE postgres',
    ]) {
      await expect(ask(service, statement), statement).rejects.toMatchObject({
        code: expect.stringMatching(/42501|28000/),
      });
    }
    await expect(ask({ ...service, database: 'postgres' }, 'SELECT 1')).rejects.toMatchObject({
      code: '42501',
    });
    await expect(ask({ ...service, user: 'platen' }, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
    await database.stop();
  });

  it('makes up for a first start that died half-way', async () => {
    const dataDir = freshDirectory();
    mkdirSync(join(dataDir, 'postgres/half-done/base'), { recursive: true });
    const { answer } = await startParent(dataDir, 'one');
    expect(answer.kept).toEqual(['one']);
  });

  it('gives up when asked to, and leaves nothing running', async () => {
    const dataDir = freshDirectory();
    const stop = new AbortController();
    const started = startEmbedded({ dataDir, signal: stop.signal });
    const refused = expect(started).rejects.toThrow('changed my mind');
    await wait(150);
    stop.abort(new Error('changed my mind'));
    await refused;
    await gone(dataDir, 5_000);
    const again = await startEmbedded({ dataDir });
    await again.stop();
  });

  it('refuses a directory that it cannot make', async () => {
    const file = join(freshDirectory(), 'file');
    execFileSync('touch', [file]);
    const refused = startEmbedded({ dataDir: join(file, 'data') });
    await expect(refused).rejects.toBeInstanceOf(EmbeddedError);
    await expect(refused).rejects.toMatchObject({ code: 'directory-unusable' });
  });
});
