/**
 * Keeps printed labels in one directory: `000001.png` and so on, with the format that made each beside it. A
 * document of several pages is beside its first label. The last 10,000 labels are kept.
 *
 * The odometer is the number of the last picture, nothing else: a label counts as printed from the moment its
 * PNG has its final name, and `printer.json` only remembers the count so that pictures may be deleted while
 * the printer is off. Every file is written under another name, flushed, and renamed, so that a crash leaves
 * no half picture.
 */
import { randomBytes } from 'node:crypto';
import { access, mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

const identity = z.object({ serial: z.string().regex(/^[\x21\x23-\x7e]{1,50}$/), odometer: z.int().min(0) });

const LABEL = /^(\d{6,})\.png$/;
/** Everything of one label. */
const OF_LABEL = /^(\d{6,})\./;
/** Labels that are kept; older ones are deleted, so many at a time. */
const KEPT = 10_000;
const AT_ONCE = 100;
const TEMPORARY = '.tmp';

/** The output directory cannot be used: another printer writes to it, or its `printer.json` is unreadable. */
export class LabelTrayError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LabelTrayError';
  }
}

export interface PrintedFiles {
  readonly number: number;
  /** Path of the PNG. */
  readonly file: string;
  /** Path of the ZPL or the document that made it. */
  readonly rawFile: string;
}

/** What made a label: ZPL; another document, with its file name extension; or an already existing file. */
export type RawDocument = Uint8Array | { extension: string; content: Uint8Array } | { file: string };

export class LabelTray {
  readonly #directory: string;
  readonly #kept: number;
  #serial: string | undefined;
  #odometer = 0;

  constructor(directory: string, kept = KEPT) {
    this.#directory = directory;
    this.#kept = kept;
  }

  /** Labels printed in this printer's life. */
  get odometer(): number {
    return this.#odometer;
  }

  /** The picture of a label, as long as it is kept. */
  async picture(number: number): Promise<Buffer | undefined> {
    try {
      return await readFile(join(this.#directory, `${nameOf(number)}.png`));
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    }
  }

  get serial(): string {
    if (this.#serial === undefined) throw new LabelTrayError('the tray is not open');
    return this.#serial;
  }

  /** Reads what is there, and removes what a crash left half written. @throws LabelTrayError */
  async open(serial: string | undefined): Promise<void> {
    await mkdir(this.#directory, { recursive: true });
    const names = await readdir(this.#directory);
    let last = 0;
    for (const name of names) {
      if (name.endsWith(TEMPORARY)) await rm(join(this.#directory, name), { force: true });
      const number = LABEL.exec(name)?.[1];
      if (number !== undefined) last = Math.max(last, Number(number));
    }
    const known = await this.#read();
    this.#odometer = Math.max(last, known?.odometer ?? 0);
    this.#serial = serial ?? known?.serial ?? `VZ${randomBytes(5).toString('hex').toUpperCase()}`;
    await this.#remember();
  }

  async close(): Promise<void> {
    if (this.#serial !== undefined) await this.#remember();
    this.#serial = undefined;
  }

  /**
   * Prints one label: when this returns it is on disk and counted, and when it throws it is neither.
   * `faults`: why the picture is crossed out; also written beside it.
   */
  async add(png: Uint8Array, raw: RawDocument, faults: readonly string[]): Promise<PrintedFiles> {
    const number = this.#odometer + 1;
    const name = nameOf(number);
    const file = join(this.#directory, `${name}.png`);
    const taken = await access(file).then(
      () => true,
      () => false,
    );
    if (taken) throw new LabelTrayError(`${file} is there already: does another printer use this directory?`);
    if (faults.length > 0) await this.#write(`${name}.error.txt`, `${faults.join('\n')}\n`);
    const rawFile = await this.#keep(name, raw);
    await this.#write(`${name}.png`, png);
    // The label is out; a directory that cannot be flushed does not take it back.
    await this.#flushDirectory().catch(() => undefined);
    // Counted at the moment at which the caller learns of it: a label is never both pending and counted.
    this.#odometer = number;
    if (number > this.#kept && number % AT_ONCE === 0) await this.#throwAway(number - this.#kept);
    return { number, file, rawFile };
  }

  /** Whether the disk takes a label like this one, twice: beside the picture there is what made it. */
  async hasRoom(png: Uint8Array): Promise<boolean> {
    const path = join(this.#directory, `room${TEMPORARY}`);
    try {
      await writeFile(path, Buffer.concat([png, png]), { flush: true });
      return true;
    } catch {
      return false;
    } finally {
      await rm(path, { force: true }).catch(() => undefined);
    }
  }

  /** Deletes the files of labels up to `last`; a file that cannot be removed stays. */
  async #throwAway(last: number): Promise<void> {
    const old = (await readdir(this.#directory).catch(() => [])).filter(
      (name) => Number(OF_LABEL.exec(name)?.[1] ?? Number.POSITIVE_INFINITY) <= last,
    );
    for (const name of old) await rm(join(this.#directory, name), { force: true }).catch(() => undefined);
  }

  async #keep(name: string, raw: RawDocument): Promise<string> {
    if ('file' in raw) return raw.file;
    const { extension, content } = 'content' in raw ? raw : { extension: 'zpl', content: raw };
    await this.#write(`${name}.${extension}`, content);
    return join(this.#directory, `${name}.${extension}`);
  }

  async #read(): Promise<z.infer<typeof identity> | undefined> {
    const path = join(this.#directory, 'printer.json');
    let content: string;
    try {
      content = await readFile(path, 'utf8');
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    }
    try {
      return identity.parse(JSON.parse(content));
    } catch (error) {
      throw new LabelTrayError(`${path} is not what a virtual printer wrote`, { cause: error });
    }
  }

  async #remember(): Promise<void> {
    const content = { serial: this.#serial, odometer: this.#odometer };
    await this.#write('printer.json', `${JSON.stringify(content)}\n`);
    await this.#flushDirectory();
  }

  async #write(name: string, content: string | Uint8Array): Promise<void> {
    const path = join(this.#directory, name);
    const temporary = `${path}${TEMPORARY}`;
    const handle = await open(temporary, 'w');
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  }

  async #flushDirectory(): Promise<void> {
    // Windows opens no directories, and has no need to.
    if (process.platform === 'win32') return;
    const handle = await open(this.#directory, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }
}

/** The name of a label's files, without their extension. */
function nameOf(number: number): string {
  return String(number).padStart(6, '0');
}
