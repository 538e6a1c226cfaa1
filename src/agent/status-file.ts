/**
 * The agent's own status, in a file beside its journal. Programs on the same machine read it: `platen doctor`, if there is no
 * service to ask, and an update, which has to know whether the new version works.
 */
import { readFileSync, statSync } from 'node:fs';
import { rename, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { agentReport } from '../contract/report.ts';

const STATUS_FILE = 'agent-status.json';
/** The file is written or at least touched with every heartbeat. If it is older than this, ms, its process stands still. */
const FRESH_MS = 60_000;

const agentStatus = z.object({
  pid: z.int().positive(),
  startedAt: z.iso.datetime(),
  /** The newest report, whether or not the service has it. */
  report: agentReport,
  /** When the queue last took a report, and why it does not take reports now; `error` is null if it does. */
  told: z.object({ at: z.iso.datetime().nullable(), error: z.string().nullable() }),
});
export type AgentStatus = z.infer<typeof agentStatus>;

export class StatusFile {
  readonly #file: string;
  readonly #onWritten: (written: boolean) => void;
  #next: AgentStatus | null = null;
  #writing: Promise<void> | null = null;

  /** @param onWritten called after each attempt; false: the disk has not taken the file */
  constructor(directory: string, onWritten: (written: boolean) => void = () => {}) {
    this.#file = join(directory, STATUS_FILE);
    this.#onWritten = onWritten;
  }

  /** Writes the newest status soon. Never fails: a full disk must not keep the agent from printing. */
  write(status: AgentStatus): void {
    this.#next = status;
    this.#writing ??= this.#drain();
  }

  /** Resolves when the newest status is written. */
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
      // A new time needs no room on the disk, and shows that the process still runs.
      if (!written) await utimes(this.#file, new Date(), new Date()).catch(() => undefined);
      this.#onWritten(written);
    }
    this.#writing = null;
  }
}

/**
 * What the agent that runs on a data directory says; null: no agent runs there, or it stands still. `isOld`: it runs, but can
 * no longer write down its status.
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

/** Whether a process of this machine runs, whoever's it is. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it is another user's.
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
