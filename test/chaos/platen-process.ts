/** A real `platen` process that can be killed, put to sleep and started again; all that it says goes to a file. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { PLATEN } from '../kit/programs/built.ts';
import type { Clock } from '../kit/programs/clock.ts';

/** Against hanging: on a machine that has much else to do, the processes take minutes to start. */
const START_TIMEOUT_MS = 600_000;
/** Longer than any stop may take. */
const STOP_TIMEOUT_MS = 90_000;

export class PlatenProcess {
  readonly name: string;
  readonly #within: readonly string[];
  readonly #args: readonly string[];
  #program: string;
  readonly #clock: Clock | undefined;
  readonly #env: Record<string, string>;
  readonly #ready: RegExp;
  readonly #log: WriteStream;
  #child: ChildProcess | undefined;
  /** Whether the process may end: before `launch`, and once it was told to end. */
  #expected = true;
  /** `launch` does nothing meanwhile. */
  keptDown = false;
  /** Each time that it ended without being told to, or did not end when it was told to. */
  readonly falls: string[] = [];

  constructor(parts: {
    name: string;
    args: readonly string[];
    /** What is put before it: see `Network.within`. */
    within?: readonly string[];
    env: Record<string, string>;
    ready: RegExp;
    logFile: string;
    /** Of another version; left out: this one's. */
    program?: string | undefined;
    /** Left out: the machine's. */
    clock?: Clock | undefined;
  }) {
    this.name = parts.name;
    this.#within = parts.within ?? [];
    this.#args = parts.args;
    this.#program = parts.program ?? PLATEN;
    this.#clock = parts.clock;
    this.#env = parts.env;
    this.#ready = parts.ready;
    this.#log = createWriteStream(parts.logFile, { flags: 'a' });
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get runs(): boolean {
    return this.#child !== undefined;
  }

  /** It is of another version. */
  get isOld(): boolean {
    return this.#program !== PLATEN;
  }

  /** Whatever starts it next starts this version. */
  update(): void {
    this.#program = PLATEN;
  }

  /** Starts it, without waiting until it is ready. */
  launch(): void {
    if (this.#child !== undefined || this.keptDown) return;
    const { DATABASE_URL: _database, REDIS_URL: _redis, ...env } = process.env;
    const [program = PLATEN, ...args] = [...this.#within, this.#program, ...this.#args];
    const child = spawn(program, args, {
      env: { ...env, ...this.#env, ...this.#clock?.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#expected = false;
    this.#log.write(`\n--- started${this.isOld ? ' the older version' : ''}, process ${child.pid}\n`);
    child.stdout.pipe(this.#log, { end: false });
    child.stderr.pipe(this.#log, { end: false });
    child.once('exit', (code, signal) => {
      this.#log.write(`--- ended with ${code ?? signal}\n`);
      if (child.pid !== undefined) this.#clock?.over(child.pid);
      if (this.#child === child) this.#child = undefined;
      if (!this.#expected) this.falls.push(`${this.name} ended by itself with ${code ?? signal}`);
    });
  }

  /** @throws Error when it ends instead, or takes too long */
  async start(): Promise<void> {
    this.launch();
    const child = this.#child;
    if (child?.stdout === null || child === undefined) throw new Error(`${this.name} did not start`);
    let said = '';
    const limit = AbortSignal.timeout(START_TIMEOUT_MS);
    while (!this.#ready.test(said)) {
      const [chunk] = await Promise.race([
        once(child.stdout, 'data', { signal: limit }),
        once(child, 'exit', { signal: limit }).then(() => [undefined]),
      ]);
      if (chunk === undefined) throw new Error(`${this.name} ended at its start: see its log`);
      said += String(chunk);
    }
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** @throws Error when it does not end */
  async stop(): Promise<void> {
    await this.#end('SIGTERM');
  }

  /** Puts it to sleep, or wakes it. */
  sleep(asleep: boolean): void {
    this.#child?.kill(asleep ? 'SIGSTOP' : 'SIGCONT');
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#expected = true;
    const exit = once(child, 'exit', { signal: AbortSignal.timeout(STOP_TIMEOUT_MS) });
    child.kill('SIGCONT');
    child.kill(signal);
    try {
      await exit;
    } catch {
      child.kill('SIGKILL');
      this.falls.push(`${this.name} did not end within ${STOP_TIMEOUT_MS / 1_000} s of ${signal}`);
    }
  }
}
