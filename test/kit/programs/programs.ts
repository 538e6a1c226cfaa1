/** Programs that run beside a test until it ends them, and what they said, for the message when one does not come up. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { stopAll } from './stop-all.ts';

/** A busy machine takes half a minute for a first database. One that exits before is an error at once. */
export const START_TIMEOUT_MS = 240_000;
const STOP_TIMEOUT_MS = 10_000;

export interface Program {
  /** The last 4,000 characters that it wrote to stdout and stderr. */
  said(): string;
  /** Waits until `ready` says so. @throws Error with what it said, when it ends before, or takes longer than 90 s */
  until(ready: () => boolean | Promise<boolean>): Promise<void>;
  /** Resolves when it has ended, with its exit code, null: by a signal. @throws Error when it has not within `ms` */
  exited(ms?: number): Promise<number | null>;
  /** SIGTERM, and SIGKILL 10 s later. */
  end(signal?: NodeJS.Signals): Promise<void>;
  kill(signal: NodeJS.Signals): void;
}

export interface ProgramOptions {
  env?: NodeJS.ProcessEnv;
  /** What is put before it: see `Network.within`. */
  within?: readonly string[];
}

export class Programs {
  readonly #running: Program[] = [];

  start(program: string, args: readonly string[], { env, within = [] }: ProgramOptions = {}): Program {
    const [first = program, ...rest] = [...within, program, ...args];
    const child = spawn(first, rest, { stdio: ['ignore', 'pipe', 'pipe'], env: env ?? process.env });
    let said = '';
    let failed = false;
    const keep = (text: string) => {
      said = (said + text).slice(-4_000);
    };
    child.stdout.on('data', (bytes) => keep(String(bytes)));
    child.stderr.on('data', (bytes) => keep(String(bytes)));
    child.on('error', (error) => {
      failed = true;
      keep(error.message);
    });
    const running: Program = {
      said: () => said,
      until: async (ready) => {
        const deadline = Date.now() + START_TIMEOUT_MS;
        for (;;) {
          const ended = child.exitCode !== null || child.signalCode !== null;
          const over = failed || ended || Date.now() > deadline;
          if (await ready()) return;
          if (over) throw new Error(`${program} did not start: ${said}`);
          await wait(20);
        }
      },
      exited: async (ms = STOP_TIMEOUT_MS) => {
        if (child.exitCode === null && child.signalCode === null) {
          await once(child, 'exit', { signal: AbortSignal.timeout(ms) }).catch(() => {
            throw new Error(`${program} did not end within ${ms} ms: ${said}`);
          });
        }
        return child.exitCode;
      },
      end: (signal = 'SIGTERM') => ended(child, signal),
      kill: (signal) => void child.kill(signal),
    };
    this.#running.push(running);
    return running;
  }

  /** Ends them, the last one first. */
  async end(signal?: NodeJS.Signals): Promise<void> {
    await stopAll(this.#running, (program) => program.end(signal));
  }
}

/** Programs with a directory of their own, which is removed once they have ended. */
export class OwnPrograms extends Programs {
  readonly root: string;
  readonly stop: () => Promise<void>;

  /** @param signal by which they end; default SIGTERM */
  constructor(name: string, signal?: NodeJS.Signals) {
    super();
    this.root = mkdtempSync(join(tmpdir(), `platen-test-${name}-`));
    this.stop = async () => {
      await this.end(signal);
      rmSync(this.root, { recursive: true, force: true });
    };
  }

  /** Stops them where they do not come up. */
  async up<T>(starting: () => Promise<T>): Promise<T> {
    try {
      return await starting();
    } catch (error) {
      await this.stop();
      throw error;
    }
  }
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  const limit = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(limit);
}
