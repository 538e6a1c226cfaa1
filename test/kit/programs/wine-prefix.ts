/**
 * A Windows of a test's own, as far as Debian's Wine has it: a prefix in a directory that is gone with the test.
 *
 * Nothing of Wine is ever given a pipe: its processes outlive each other, and would hold it open.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addLibraries } from './wine-libraries.ts';

const BIN = '/usr/lib/wine';
const WINE = join(BIN, 'wine64');
/** Longest that a program may run, ms. */
const LIMIT = 300_000;
/** How long Wine's server stays after the last program has ended, s: that of a killed test ends then too. */
const STAYS = 600;

export interface WineRun {
  env?: NodeJS.ProcessEnv;
  /** On this machine's side. */
  cwd?: string;
}

export class WinePrefix {
  /** Where drive C: is, on this machine's side. */
  readonly drive: string;
  readonly #directory: string;
  readonly #env: NodeJS.ProcessEnv;
  #runs = 0;

  private constructor(env: NodeJS.ProcessEnv) {
    this.#directory = mkdtempSync(join(tmpdir(), 'platen-test-wine-'));
    const prefix = join(this.#directory, 'prefix');
    mkdirSync(prefix);
    this.drive = join(prefix, 'drive_c');
    this.#env = { ...process.env, ...env, WINEPREFIX: prefix, WINEDEBUG: '-all', DISPLAY: '' };
    // A path of this machine, which means nothing to Windows.
    delete this.#env['NODE_COMPILE_CACHE'];
  }

  /** @param env what programs see that Windows starts, such as services */
  static async start(env: NodeJS.ProcessEnv = {}): Promise<WinePrefix> {
    const wine = new WinePrefix(env);
    try {
      await wine.#ended(join(BIN, 'wineserver64'), [`-p${STAYS}`], {});
      await wine.run(['winecfg', '-v', 'win10']);
      for (const library of addLibraries(join(wine.drive, '..'))) {
        const key = 'HKCU\\Software\\Wine\\DllOverrides';
        await wine.run(['reg', 'add', key, '/v', library, '/d', 'native,builtin', '/f']);
      }
    } catch (error) {
      await wine.stop();
      throw error;
    }
    return wine;
  }

  /** Runs a program of Windows. @returns what it says @throws Error with that, where it fails or takes too long */
  async run(command: readonly string[], options: WineRun = {}): Promise<string> {
    return await this.#ended(WINE, command, options);
  }

  async stop(): Promise<void> {
    await this.#ended(join(BIN, 'wineserver64'), ['-k'], {}).catch(() => undefined);
    rmSync(this.#directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }

  async #ended(program: string, args: readonly string[], { env, cwd }: WineRun): Promise<string> {
    this.#runs += 1;
    const file = join(this.#directory, `output-${this.#runs}`);
    const output = openSync(file, 'w');
    const child = spawn(program, args, {
      cwd: cwd ?? this.#directory,
      env: { ...this.#env, ...env },
      stdio: ['ignore', output, output],
      timeout: LIMIT,
      killSignal: 'SIGKILL',
    });
    closeSync(output);
    const [code] = await once(child, 'exit');
    const said = readFileSync(file, 'utf8');
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code} in Wine: ${said.slice(-4_000)}`);
    return said;
  }
}
