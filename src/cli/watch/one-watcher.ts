/** Sees that a folder is watched by one process: two would print the same file by different templates. */
import { randomUUID } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { isAlive } from '../../agent/status-file.ts';
import { CommandFailure } from '../failure.ts';
import type { WatchedFolder } from './folder.ts';

/** Within `printing/`; rewritten while its process lives. */
const FILE = '.watched';
const REWRITE_MS = 5_000;
/** ms without a rewrite after which its process is over, or its machine. */
const OVER_MS = 30_000;
const LOOK_MS = 500;

const mark = z.object({ host: z.string(), pid: z.int(), token: z.string(), beat: z.int() });

export class OneWatcher implements AsyncDisposable {
  /** The tokens of this process, which may watch several folders. */
  static readonly #own = new Set<string>();
  readonly #file: string;
  readonly #token = randomUUID();
  readonly #replaced = new AbortController();
  #beat = 0;
  #rewriting: NodeJS.Timeout | undefined;

  private constructor(file: string) {
    this.#file = file;
  }

  /** Waits for a process that seems to be over. @throws CommandFailure where another one lives; the signal's reason */
  static async of(folder: WatchedFolder, signal: AbortSignal): Promise<OneWatcher> {
    const one = new OneWatcher(join(folder.path, 'printing', FILE));
    const began = performance.now();
    let seen: string | undefined;
    for (;;) {
      if (await one.#begin()) {
        OneWatcher.#own.add(one.#token);
        one.#rewriting = setInterval(() => void one.#rewrite(), REWRITE_MS).unref();
        return one;
      }
      const text = await readFile(one.#file, 'utf8').catch(() => '');
      const { data } = mark.safeParse(parsed(text));
      seen ??= text;
      const isOwn = data !== undefined && OneWatcher.#own.has(data.token);
      if (data !== undefined && (isOwn || (text !== seen && performance.now() - began < OVER_MS))) {
        throw new CommandFailure(
          `${folder.path} is watched already, by process ${data.pid} on ${data.host}: one folder has one watcher.`,
        );
      }
      // In a container the process before had the same number.
      const over = data?.host === hostname() && (data.pid === process.pid || !isAlive(data.pid));
      if (over || performance.now() - began >= OVER_MS) await rm(one.#file, { force: true });
      else await pause(LOOK_MS, undefined, { signal });
    }
  }

  /** Aborted, with a CommandFailure, when another process has taken the folder over. */
  get replaced(): AbortSignal {
    return this.#replaced.signal;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#rewriting);
    OneWatcher.#own.delete(this.#token);
    if (!this.replaced.aborted) await rm(this.#file, { force: true });
  }

  /** Says that this process lives. */
  async #rewrite(): Promise<void> {
    const { data } = mark.safeParse(parsed(await readFile(this.#file, 'utf8').catch(() => '')));
    if (data !== undefined && data.token !== this.#token) {
      const why = `Another process, ${data.pid} on ${data.host}, watches the folder now.`;
      this.#replaced.abort(new CommandFailure(why));
      clearInterval(this.#rewriting);
    }
    // A full disk, or a share that is away, is reported where files are printed.
    else await this.#write('w').catch(() => undefined);
  }

  async #begin(): Promise<boolean> {
    try {
      await this.#write('wx');
      return true;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
      throw error;
    }
  }

  async #write(flag: 'w' | 'wx'): Promise<void> {
    this.#beat += 1;
    const content = { host: hostname(), pid: process.pid, token: this.#token, beat: this.#beat };
    await writeFile(this.#file, JSON.stringify(content), { flag });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
