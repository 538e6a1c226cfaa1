import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Command } from 'commander';
import { createLogger } from '../../log.ts';
import { connect } from '../admin-client.ts';
import { explain } from '../explain.ts';
import { CommandFailure, EXIT } from '../failure.ts';
import { positiveNumber } from '../option-values.ts';
import { forTerminal, printLine } from '../output.ts';
import { idAmong, type RouteOptions, routeOf, TEMPLATE, withRoute } from '../print.ts';
import { isAway } from '../refusal.ts';
import { untilToldToStop } from '../stop-signal.ts';
import { type Taken, WatchedFolder } from './folder.ts';
import { OneWatcher } from './one-watcher.ts';
import { NotNow, printed } from './printed.ts';
import { ProgramGone } from './records.ts';
import { isLeft, openForWriting, Settling } from './whole.ts';

interface WatchOptions extends RouteOptions {
  template: string;
  settle: number;
  wait?: true;
  json?: true;
}

/** ms between two looks at the folder; network shares do not say that something has changed. */
const SCAN_MS = 1_000;
/** ms until the next try after one that failed: doubled each time, up to the most. */
const FIRST_RETRY_MS = 1_000;
const MOST_RETRY_MS = 60_000;

/** `platen watch`: prints what is put into a folder. */
export function watchCommand(): Command {
  return withRoute(new Command('watch'))
    .description('print the CSV, Excel and JSON files that are put into a folder')
    .argument('<dir>', 'the folder; "printing", "done" and "failed" are made in it')
    .requiredOption('--template <template>', TEMPLATE)
    .option('--settle <seconds>', 'how long a file must not have changed', positiveNumber, 2)
    .option(
      '--wait',
      'a file is done when its labels are out, not when its job is accepted; the next one waits',
    )
    .option('--json', 'print JSON lines')
    .action(async (dir: string, options: WatchOptions) => {
      const signal = untilToldToStop(createLogger());
      const folder = new WatchedFolder(dir);
      await folder.prepare();
      await using alone = await OneWatcher.of(folder, signal);
      await new Watch(folder, options, AbortSignal.any([signal, alone.replaced])).run();
      alone.replaced.throwIfAborted();
    });
}

class Watch {
  readonly #folder: WatchedFolder;
  readonly #options: WatchOptions;
  readonly #signal: AbortSignal;
  readonly #settling: Settling;
  /** What was said last about a file, or about the folder as `''`. */
  readonly #said = new Map<string, string>();

  constructor(folder: WatchedFolder, options: WatchOptions, signal: AbortSignal) {
    this.#folder = folder;
    this.#options = options;
    this.#signal = signal;
    this.#settling = new Settling(options.settle * 1000);
  }

  /** Until told to stop, or the program is gone. @throws CommandFailure when template or printer are not known, at the start */
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
        // Whoever started this process starts the new program, which goes on with what was taken. This one can no longer
        // load what puts a failure into words.
        if (error instanceof ProgramGone) {
          process.stderr.write(`platen: ${error.message}\n`);
          process.exitCode = EXIT.failed;
          return;
        }
        if (!ready && error instanceof CommandFailure && !isAway(error)) throw error;
        this.#say('', explain(error));
        well = false;
      }
      await pause(well ? SCAN_MS : retryMs, undefined, { signal: this.#signal }).catch(() => undefined);
      retryMs = well ? FIRST_RETRY_MS : Math.min(retryMs * 2, MOST_RETRY_MS);
    }
  }

  /** Finds template and printer before any file is taken: what is misspelt is said at once. */
  async #begin(): Promise<void> {
    const { tenant, template, printer } = this.#options;
    const client = await connect(this.#options);
    idAmong(await client.templates(tenant), template);
    await routeOf(client, this.#options);
    if (printer !== undefined && !(await client.printers(tenant)).some(({ name }) => name === printer)) {
      throw new CommandFailure(`No printer is named "${printer}": see "platen printers".`);
    }
    if (!this.#options.json) printLine(`watching ${this.#folder.path}`);
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
      await this.#folder.take(name).catch((error: unknown) => this.#say(name, explain(error)));
    }
  }

  /** Prints the files that were taken. @returns whether none has to be tried again @throws ProgramGone */
  async #print(): Promise<boolean> {
    let well = true;
    for (const taken of await this.#folder.taken()) {
      if (this.#signal.aborted) break;
      try {
        this.#report(taken, await printed(this.#folder, taken, this.#options, this.#signal));
      } catch (error) {
        this.#signal.throwIfAborted();
        if (error instanceof ProgramGone) throw error;
        this.#say(taken.name, explain(error));
        well = false;
        if (error instanceof NotNow) break;
      }
    }
    return well;
  }

  #report({ name }: Taken, { file, job, code }: Awaited<ReturnType<typeof printed>>): void {
    if (this.#options.json) {
      process.stdout.write(`${JSON.stringify({ name, file, job: job ?? null, code: code ?? null })}\n`);
    } else {
      printLine(
        `${oneLine(file)}${job === undefined ? '' : `  job ${job}`}${code === undefined ? '' : `  ${code}`}`,
      );
    }
    this.#said.delete(name);
  }

  /** On stderr, and not again until something else is said of the same file. */
  #say(name: string, reason: string): void {
    if (this.#said.get(name) === reason) return;
    this.#said.set(name, reason);
    const about = name === '' ? '' : `${oneLine(name)}: `;
    process.stderr.write(`${forTerminal(`${about}${reason}`)}\nIt is tried again.\n`);
  }
}

/** A stranger's name must not make a line of its own. */
function oneLine(name: string): string {
  return name.replaceAll('\n', '\\n');
}
