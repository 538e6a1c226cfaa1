/** What tests of the embedded PostgreSQL start: a process that has one, which a test can end or kill. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { Client, type ClientConfig } from 'pg';
import { afterEach } from 'vitest';
import { z } from 'zod';
import { processFile, SHORT_LIVED } from '../programs/built.ts';
import { START_TIMEOUT_MS } from '../programs/programs.ts';

const parentProgram = processFile('test/store/embedded-parent.ts');
export const answerOf = z.object({
  pid: z.number().optional(),
  kept: z.array(z.string()).optional(),
  error: z.string().optional(),
  message: z.string().optional(),
});

const directories: string[] = [];
export function freshDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'platen-embedded-'));
  directories.push(directory);
  return directory;
}

export type Parent = ChildProcessByStdio<Writable, Readable, null>;
export const parents: Parent[] = [];

/** Starts a process that has the database of `dataDir`, and returns what it says when it has it. */
export async function startParent(dataDir: string, text = '', user = {}) {
  const child = spawn(process.execPath, [...SHORT_LIVED, parentProgram, dataDir, text], {
    ...user,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  parents.push(child);
  const lines = createInterface({ input: child.stdout });
  const died = once(child, 'exit').then(([code, signal]): never => {
    throw new Error(`the process with the database ended before it said so: ${signal ?? code}`);
  });
  const said = once(lines, 'line', { signal: AbortSignal.timeout(START_TIMEOUT_MS) });
  const [line] = await Promise.race([said, died]);
  died.catch(() => undefined);
  return { child, answer: answerOf.parse(JSON.parse(String(line))) };
}

/** Ends the processes and removes the directories of each test in a file. */
export function useParents(): void {
  afterEach(endAll);
}

async function endAll(): Promise<void> {
  for (const child of parents.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const exited = once(child, 'exit');
    child.stdin.end();
    await exited;
  }
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
}

/** The PostgreSQL processes that work in `dataDir`, by their working directory in /proc. */
export function databaseProcesses(dataDir: string): number[] {
  const data = join(dataDir, 'postgres/data');
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        // A process that has ended has an empty command line.
        return (
          readlinkSync(`/proc/${pid}/cwd`) === data && readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== ''
        );
      } catch {
        return false;
      }
    })
    .map(Number);
}

export async function ask(connection: ClientConfig, sql: string): Promise<unknown[]> {
  const client = new Client(connection);
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query(sql)).rows ?? [];
  } finally {
    await client.end();
  }
}

export async function gone(dataDir: string, milliseconds: number): Promise<void> {
  const deadline = Date.now() + milliseconds;
  while (databaseProcesses(dataDir).length > 0) {
    if (Date.now() > deadline) throw new Error(`still running: ${databaseProcesses(dataDir)}`);
    await wait(50);
  }
}
