import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startEmbedded } from '../../src/server/store/embedded.ts';
import { EmbeddedError } from '../../src/server/store/embedded-error.ts';
import { nobody, nobodyCanRun } from '../setup/ordinary-user.ts';

const root = process.getuid?.() === 0;
const parentProgram = fileURLToPath(new URL('./embedded-parent.ts', import.meta.url));
const answerOf = z.object({
  pid: z.number().optional(),
  kept: z.array(z.string()).optional(),
  error: z.string().optional(),
  message: z.string().optional(),
});

const directories: string[] = [];
function freshDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'platen-embedded-'));
  directories.push(directory);
  return directory;
}

type Parent = ChildProcessByStdio<Writable, Readable, null>;
const parents: Parent[] = [];

/** Starts a process that has the database of `dataDir`, and returns what it says when it has it. */
async function startParent(dataDir: string, text = '', user = {}) {
  const child = spawn(process.execPath, [parentProgram, dataDir, text], {
    ...user,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  parents.push(child);
  const lines = createInterface({ input: child.stdout });
  const [line] = await once(lines, 'line', { signal: AbortSignal.timeout(30_000) });
  return { child, answer: answerOf.parse(JSON.parse(String(line))) };
}

afterEach(async () => {
  for (const child of parents.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const exited = once(child, 'exit');
    child.stdin.end();
    await exited;
  }
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

/** The PostgreSQL processes that work in `dataDir`, by their own word in /proc. */
function databaseProcesses(dataDir: string): number[] {
  const data = join(dataDir, 'postgres/data');
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const shell = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return (
          execFileSync('readlink', [`/proc/${pid}/cwd`], {
            encoding: 'utf8',
            stdio: ['ignore', 'pipe', 'ignore'],
          }).trim() === data && shell !== ''
        );
      } catch {
        return false;
      }
    })
    .map(Number);
}

async function gone(dataDir: string, milliseconds: number): Promise<void> {
  const deadline = Date.now() + milliseconds;
  while (databaseProcesses(dataDir).length > 0) {
    if (Date.now() > deadline) throw new Error(`still running: ${databaseProcesses(dataDir)}`);
    await wait(50);
  }
}

describe('the embedded PostgreSQL', () => {
  it('makes its cluster, answers with the safe settings, and ends when stopped', async () => {
    const dataDir = freshDirectory();
    const database = await startEmbedded({ dataDir });
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
        connections: 250,
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
      expect(readFileSync(file, 'utf8').trim()).toBe(database.poolConfig.password);
      expect(statSync(file).mode & 0o077).toBe(0);
      expect(statSync(join(dataDir, 'postgres')).mode & 0o077).toBe(0);
      const shown = databaseProcesses(dataDir).flatMap((pid) => [
        readFileSync(`/proc/${pid}/cmdline`, 'utf8'),
        readFileSync(`/proc/${pid}/environ`, 'utf8'),
      ]);
      expect(shown.length).toBeGreaterThanOrEqual(4);
      expect(shown.join()).not.toContain(database.poolConfig.password);
    } finally {
      await database.stop();
    }
  });

  it('logs neither the values nor the text of a statement that fails', async () => {
    const dataDir = freshDirectory();
    const lines: string[] = [];
    const keep = (fields: object, message: string) => lines.push(`${message} ${JSON.stringify(fields)}`);
    const database = await startEmbedded({ dataDir, logger: { debug: keep, info: keep, error: keep } });
    const client = new Client(database.poolConfig);
    await client.connect();
    await expect(client.query(`SELECT 'Jane Doe, blood group 0'::integer`)).rejects.toMatchObject({
      code: '22P02',
    });
    await client.end();
    await database.stop();
    expect(lines.join('\n')).toContain('ready to accept connections');
    expect(lines.join('\n')).not.toContain('Jane Doe');
    expect(lines.join('\n')).not.toContain(database.poolConfig.password);
  });

  it('reaches a data directory whose path is too long for a socket', async () => {
    const top = freshDirectory();
    const dataDir = join(top, 'long'.repeat(20), 'longer'.repeat(10));
    const database = await startEmbedded({ dataDir });
    const client = new Client(database.poolConfig);
    await client.connect();
    expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    await client.end();
    await database.stop();
    expect(existsSync(database.poolConfig.host)).toBe(false);
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

  it('says so when the database ends by itself', async () => {
    const dataDir = freshDirectory();
    const lost = Promise.withResolvers<EmbeddedError>();
    const database = await startEmbedded({ dataDir, onLost: lost.resolve });
    process.kill(database.pid, 'SIGQUIT');
    expect(await lost.promise).toMatchObject({ code: 'lost' });
    await database.stop();
    const again = await startEmbedded({ dataDir });
    await again.stop();
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

describe.runIf(root)('the embedded PostgreSQL started by root', () => {
  it('runs as nobody', async () => {
    const dataDir = freshDirectory();
    const { answer } = await startParent(dataDir);
    expect(statSync(`/proc/${answer.pid}`).uid).toBe(nobody?.uid);
  });

  it.runIf(nobodyCanRun)("runs as the directory's owner, who can start it alone afterwards", async () => {
    const dataDir = freshDirectory();
    chownSync(dataDir, 1, 1);
    const first = await startParent(dataDir, 'by root');
    expect(statSync(`/proc/${first.answer.pid}`).uid).toBe(1);
    first.child.stdin.end();
    await once(first.child, 'exit');
    const second = await startParent(dataDir, 'by its owner', { uid: 1, gid: 1 });
    expect(second.answer).toMatchObject({ kept: ['by its owner', 'by root'] });
  });

  it('works in a directory that only root can enter', async () => {
    const top = freshDirectory();
    chmodSync(top, 0o700);
    const { answer } = await startParent(join(top, 'data'), 'one');
    expect(answer.kept).toEqual(['one']);
  });

  it.runIf(nobodyCanRun)('works for an ordinary user, and ends with a killed parent there too', async () => {
    const dataDir = freshDirectory();
    const { uid = 0, gid = 0 } = nobody ?? {};
    chownSync(dataDir, uid, gid);
    const first = await startParent(dataDir, 'one', { uid, gid });
    expect(statSync(`/proc/${first.child.pid}`).uid).toBe(uid);
    first.child.kill('SIGKILL');
    await gone(dataDir, 5_000);
    const second = await startParent(dataDir, 'two', { uid, gid });
    expect(second.answer.kept).toEqual(['one', 'two']);
  });

  it.runIf(nobodyCanRun)('tells an ordinary user whose directory it is not', async () => {
    const dataDir = freshDirectory();
    chmodSync(dataDir, 0o755);
    const { answer } = await startParent(dataDir, '', nobody);
    expect(answer).toMatchObject({ error: 'directory-unusable' });
    expect(answer.message).toContain(dataDir);
  });
});
