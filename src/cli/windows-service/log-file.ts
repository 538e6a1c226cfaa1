/**
 * The log of a service on Windows, which has no journal: a file and a few older ones, of limited size. Each
 * line is written before the program goes on, so that the last line before a crash is there.
 */
import {
  closeSync,
  copyFileSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

interface LogFileOptions {
  file: string;
  /** Largest size of a file, bytes. */
  size: number;
  /** How many older files are kept, at least one: `agent.log.1` is the newest of them. */
  kept: number;
}

/** Where the log cannot be written, its lines are lost and the program goes on. */
export class LogFile {
  readonly #options: LogFileOptions;
  #file: number | null = null;
  #length = 0;

  constructor(options: LogFileOptions) {
    this.#options = options;
  }

  write(line: string): void {
    const bytes = Buffer.from(line);
    try {
      if (this.#file !== null && this.#length + bytes.length > this.#options.size) this.#turnOver();
      this.#file ??= this.#open();
      writeSync(this.#file, bytes);
      this.#length += bytes.length;
    } catch {
      this.#close();
    }
  }

  #open(): number {
    mkdirSync(dirname(this.#options.file), { recursive: true });
    const file = openSync(this.#options.file, 'a', 0o600);
    this.#length = fstatSync(file).size;
    return file;
  }

  #close(): void {
    const file = this.#file;
    this.#file = null;
    try {
      if (file !== null) closeSync(file);
    } catch {
      // The disk may be what is wrong.
    }
  }

  /** Copies and empties the file, since Windows does not rename a file that is open. */
  #turnOver(): void {
    const { file, kept } = this.#options;
    rmSync(`${file}.${kept}`, { force: true });
    for (let at = kept - 1; at >= 1; at--) {
      if (existsSync(`${file}.${at}`)) renameSync(`${file}.${at}`, `${file}.${at + 1}`);
    }
    copyFileSync(file, `${file}.1`);
    truncateSync(file);
    this.#length = 0;
  }
}
