/**
 * Gives job IDs that are never reused, over all starts of a printer: the last is kept in a file of its
 * directory. An agent that asks after a restart what became of its job must not be told about another one.
 */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LabelTrayError } from '../machine/label-tray.ts';

export class JobNumbers {
  readonly #path: string;
  readonly #failed: (error: unknown) => void;
  #last = 0;
  #writing: Promise<void> = Promise.resolve();

  constructor(directory: string, failed: (error: unknown) => void) {
    this.#path = join(directory, 'last-job');
    this.#failed = failed;
  }

  /** @throws LabelTrayError when the file is not what was written */
  async open(): Promise<void> {
    let content: string;
    try {
      content = await readFile(this.#path, 'utf8');
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return;
      throw error;
    }
    const id = /^(\d{1,9})\n$/.exec(content)?.[1];
    if (id === undefined) throw new LabelTrayError(`${this.#path} is not what a virtual printer wrote`);
    this.#last = Number(id);
  }

  next(): number {
    const id = ++this.#last;
    this.#writing = this.#writing.then(() => this.#write(id)).catch(this.#failed);
    return id;
  }

  /** Waits until the last ID is written. */
  close(): Promise<void> {
    return this.#writing;
  }

  async #write(id: number): Promise<void> {
    await writeFile(`${this.#path}.tmp`, `${id}\n`);
    await rename(`${this.#path}.tmp`, this.#path);
  }
}
