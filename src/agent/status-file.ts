/**
 * The agent's own status, in a file beside its journal, for programs on the same machine: `platen doctor`,
 * where no service can be asked, and an update that has to know whether the new version works.
 */
import { readFileSync, statSync } from 'node:fs';
import { rename, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { agentReport } from '../contract/report.ts';

const STATUS_FILE = 'agent-status.json';
/** The file is written, or at least touched, with every heartbeat; an older one is of a process that stands still, ms. */
const FRESH_MS = 60_000;

const agentStatus = z.object({
  pid: z.int().positive(),
  startedAt: z.iso.datetime(),
  /** The newest report, whether the service has it or not. */
  report: agentReport,
  /** When the queue last took a report, and why it does not take them now. */
  told: z.object({ at: z.iso.datetime().nullable(), error: z.string().nullable() }),
});
export type AgentStatus = z.infer<typeof agentStatus>;

export class StatusFile {
  readonly #file: string;
  readonly #onWritten: (written: boolean) => void;
  #next: AgentStatus | null = null;
  #writing: Promise<void> | null = null;

  /** @param onWritten called after each attempt; false: the disk took nothing */
  constructor(directory: string, onWritten: (written: boolean) => void = () => {}) {
    this.#file = join(directory, STATUS_FILE);
    this.#onWritten = onWritten;
  }

  /** Writes the newest status soon. Never fails: a full disk must not keep the agent from printing. */
  write(status: AgentStatus): void {
    this.#next = status;
    this.#writing ??= this.#drain();
  }

  /** Resolves when the newest is written. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  async #drain(): Promise<void> {
    for (let status = this.#next; status !== null; status = this.#next) {
      this.#next = null;
      const written = await writeFile(`${this.#file}.new`, JSON.stringify(status), { mode: 0o600 })
        .then(() => rename(`${this.#file}.new`, this.#file))
        .then(
          () => true,
          () => false,
        );
      // That needs no room, and says that the process is there.
      if (!written) await utimes(this.#file, new Date(), new Date()).catch(() => undefined);
      this.#onWritten(written);
    }
    this.#writing = null;
  }
}

/**
 * What the agent that runs on a data directory says; null: none runs there, or it stands still. `isOld`: it runs, and cannot write
 * down any more how it is.
 */
export function readStatus(directory: string): (AgentStatus & { isOld: boolean }) | null {
  try {
    const file = join(directory, STATUS_FILE);
    const status = agentStatus.parse(JSON.parse(readFileSync(file, 'utf8')));
    const isFresh = (ms: number) => Date.now() - ms < FRESH_MS;
    const runs = status.report.online && isFresh(statSync(file).mtimeMs) && isAlive(status.pid);
    return runs ? { ...status, isOld: !isFresh(Date.parse(status.report.at)) } : null;
  } catch {
    return null;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
