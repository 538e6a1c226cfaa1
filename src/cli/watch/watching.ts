/** Watches a folder: takes the files that are whole, prints each, and moves it on. */
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { explain } from '../explain.ts';
import { CommandFailure } from '../failure.ts';
import { idAmong, routeOf } from '../print.ts';
import { isAway } from '../refusal.ts';
import { type Taken, WatchedFolder } from './folder.ts';
import { OneWatcher } from './one-watcher.ts';
import { type Connect, type Moved, NotNow, type PrintedOptions, printed } from './printed.ts';
import { ProgramGone } from './records.ts';
import { isLeft, openForWriting, Settling } from './whole.ts';

export interface WatchedOptions extends PrintedOptions {
  /** s that a file must not have changed. */
  settle: number;
}

/** Whoever is told what becomes of a folder's files. */
export interface FolderListener {
  /** Template and printer are known: files are taken from now on. */
  watching(): void;
  moved(name: string, moved: Moved): void;
  /** It is tried again; told once, until it is for another reason. @param name a file's; `''`: it is about the folder */
  later(name: string, error: unknown): void;
}

/** ms between two looks at the folder; network shares do not say that something has changed. */
const SCAN_MS = 1_000;
/** ms until the next try after one that failed: doubled each time, up to the most. */
const FIRST_RETRY_MS = 1_000;
const MOST_RETRY_MS = 60_000;

/** What a folder is watched with. */
interface WatchParts {
  folder: WatchedFolder;
  options: WatchedOptions;
  connect: Connect;
  listener: FolderListener;
  signal: AbortSignal;
}

/**
 * Until told to stop.
 * @throws CommandFailure where the folder cannot be watched, or template or printer are not known, at the start; ProgramGone
 */
export async function watch({
  directory,
  signal,
  ...parts
}: Omit<WatchParts, 'folder'> & { directory: string }): Promise<void> {
  const folder = new WatchedFolder(directory);
  await folder.prepare();
  await using alone = await OneWatcher.of(folder, signal);
  await new Watching({ folder, ...parts, signal: AbortSignal.any([signal, alone.replaced]) }).run();
  alone.replaced.throwIfAborted();
}

class Watching {
  readonly #folder: WatchedFolder;
  readonly #options: WatchedOptions;
  readonly #connect: Connect;
  readonly #listener: FolderListener;
  readonly #signal: AbortSignal;
  readonly #settling: Settling;
  /** What was said last about a file, or about the folder as `''`. */
  readonly #said = new Map<string, string>();

  constructor({ folder, options, connect, listener, signal }: WatchParts) {
    this.#folder = folder;
    this.#options = options;
    this.#connect = connect;
    this.#listener = listener;
    this.#signal = signal;
    this.#settling = new Settling(options.settle * 1000);
  }

  /** @throws ProgramGone; CommandFailure when template or printer are not known, at the start */
  async run(): Promise<void> {
    let retryMs = FIRST_RETRY_MS;
    let ready = false;
    while (!this.#signal.aborted) {
      let well = true;
      try {
        if (!ready) {
          await this.#begin();
          ready = true;
        }
        await this.#folder.prepare();
        await this.#take();
        well = await this.#print();
        this.#said.delete('');
      } catch (error) {
        if (this.#signal.aborted) break;
        if (error instanceof ProgramGone) throw error;
        if (!ready && error instanceof CommandFailure && !isAway(error)) throw error;
        this.#later('', error);
        well = false;
      }
      await pause(well ? SCAN_MS : retryMs, undefined, { signal: this.#signal }).catch(() => undefined);
      retryMs = well ? FIRST_RETRY_MS : Math.min(retryMs * 2, MOST_RETRY_MS);
    }
  }

  /** Finds template and printer before any file is taken: what is misspelt is said at once. */
  async #begin(): Promise<void> {
    const { tenant, template, printer } = this.#options;
    const client = await this.#connect();
    const templates = await client.templates(tenant);
    const idT = idAmong(templates, template);
    if (!templates.some(({ id }) => id === idT)) {
      throw new CommandFailure(`No template is named "${template}": see "platen template list".`);
    }
    const { printerId } = await routeOf(client, this.#options);
    const isMeant = ({ id, name }: { id: string; name: string }) => id === printerId || name === printer;
    if (!(await client.printers(tenant)).some(isMeant)) {
      throw new CommandFailure(`No printer is named "${printer ?? printerId}": see "platen printers".`);
    }
    this.#listener.watching();
  }

  /** Takes the files that are whole. */
  async #take(): Promise<void> {
    const settled: string[] = [];
    const there = new Set<string>();
    for (const name of await readdir(this.#folder.path)) {
      if (isLeft(name)) continue;
      const stats = await lstat(join(this.#folder.path, name)).catch(() => undefined);
      if (stats?.isFile() !== true) continue;
      there.add(name);
      if (this.#settling.isSettled(name, stats)) settled.push(name);
    }
    this.#settling.keepOnly(there);
    if (settled.length === 0) return;
    const open = await openForWriting(this.#folder.path);
    for (const name of settled.filter((one) => !open.has(one)).sort()) {
      if (this.#signal.aborted) return;
      // On Windows, and on many shares, a file that somebody has open cannot be moved.
      await this.#folder.take(name).catch((error: unknown) => this.#later(name, error));
    }
  }

  /** Prints the files that were taken. @returns whether none has to be tried again @throws ProgramGone */
  async #print(): Promise<boolean> {
    let well = true;
    for (const taken of await this.#folder.taken()) {
      if (this.#signal.aborted) break;
      try {
        this.#moved(taken, await printed(this.#folder, taken, this.#options, this.#connect, this.#signal));
      } catch (error) {
        this.#signal.throwIfAborted();
        if (error instanceof ProgramGone) throw error;
        this.#later(taken.name, error);
        well = false;
        if (error instanceof NotNow) break;
      }
    }
    return well;
  }

  #moved({ name }: Taken, moved: Moved): void {
    this.#listener.moved(name, moved);
    this.#said.delete(name);
  }

  #later(name: string, error: unknown): void {
    const reason = explain(error);
    if (this.#said.get(name) === reason) return;
    this.#said.set(name, reason);
    this.#listener.later(name, error);
  }
}
