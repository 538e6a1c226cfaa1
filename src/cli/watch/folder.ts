/**
 * The folders below a watched one. A file that is whole is moved into a folder of its own in `printing/`, so that what
 * is written under its name later is another file; `.sent` beside it says that it was sent, before it is. Then it
 * is moved to `done/` or `failed/` with a text. Nothing is overwritten, and nothing is deleted but those notes.
 */
import { constants, type Stats } from 'node:fs';
import {
  access,
  type FileHandle,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
} from 'node:fs/promises';
import { join, parse } from 'node:path';
import { z } from 'zod';
import { CommandFailure } from '../failure.ts';

/** No file that is taken has a hidden name. */
const NOTE = '.sent';
/** Bytes of a name that leave room for a number and `.txt` in the 255 that file systems have. */
const MOST_NAME = 200;
/** Most files of one name in `done/` or `failed/` that are looked at for a free one. */
const MOST_SAME = 100_000;

const note = z.object({ key: z.string(), since: z.iso.datetime(), job: z.string().optional() });
/** What was sent, when first, and the job once it was accepted. */
export type SentNote = z.infer<typeof note>;

/** A file that was taken. */
export interface Taken {
  name: string;
  path: string;
  /** Its own folder. */
  room: string;
}

export class WatchedFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** @throws CommandFailure where the folder is none, or another in its place is a link */
  async prepare(): Promise<void> {
    const stats = await lstat(this.path).catch(() => undefined);
    if (stats?.isDirectory() !== true) throw new CommandFailure(`${this.path} is no folder.`);
    await access(this.path, constants.W_OK | constants.X_OK);
    for (const name of ['printing', 'done', 'failed']) {
      const own = this.#own(name);
      await mkdir(own)
        .then(async () => {
          if (name === 'printing') return;
          await using handle = await open(own, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
          await share(handle, stats, 0o777);
        })
        .catch(async (error: unknown) => {
          const there = await lstat(own).catch(() => undefined);
          if (there === undefined) throw error;
          if (!there.isDirectory())
            throw new CommandFailure(`${own} is in the way: Platen needs a folder there.`);
        });
      await access(own, constants.W_OK | constants.X_OK);
    }
  }

  /** The files that were taken and not moved on, the first taken first. */
  async taken(): Promise<Taken[]> {
    const rooms = (await readdir(this.#own('printing'))).filter((one) => !one.startsWith('.')).sort();
    const found = await Promise.all(
      rooms.map(async (one) => {
        const room = join(this.#own('printing'), one);
        const names = await readdir(room).catch(() => []);
        const name = names.find((other) => !other.startsWith(NOTE));
        if (name !== undefined) return [{ name, room, path: join(room, name) }];
        // Its file was moved on just before the process ended. What people have put there stays.
        await this.#leave(room).catch(() => undefined);
        return [];
      }),
    );
    return found.flat();
  }

  /** Takes a file of the folder. @throws the system's error where that cannot be, as for a file that is open on Windows */
  async take(name: string): Promise<Taken> {
    const time = new Date().toISOString().replaceAll(/[-:]/g, '');
    const room = await mkdtemp(join(this.#own('printing'), `${time}-`));
    const path = join(room, name);
    await rename(join(this.path, name), path).catch(async (error: unknown) => {
      await rmdir(room);
      throw error;
    });
    return { name, path, room };
  }

  async sent({ room }: Taken): Promise<SentNote | undefined> {
    const text = await readFile(join(room, NOTE), 'utf8').catch(() => undefined);
    if (text === undefined) return undefined;
    return note.parse(JSON.parse(text));
  }

  /** Written beside it and renamed, so that there is never half of it. */
  async noteSent({ room }: Taken, sent: SentNote): Promise<void> {
    const file = join(room, NOTE);
    const handle = await open(`${file}.new`, 'w');
    try {
      await handle.writeFile(JSON.stringify(sent));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(`${file}.new`, file);
  }

  /**
   * Moves a file on, with a text beside it.
   * @returns its new path, from the folder
   */
  async finish(taken: Taken, outcome: 'done' | 'failed', text: string): Promise<string> {
    const { name: stem, ext } = parse(taken.name);
    const stats = await lstat(taken.path);
    const short = shortened(stem, MOST_NAME - Math.min(Buffer.byteLength(ext), MOST_NAME));
    for (let count = 1; count <= MOST_SAME; count++) {
      const name = `${count === 1 ? short : `${short} (${count})`}${ext}`;
      const target = join(this.#own(outcome), name);
      if (!(await isOurs(target, text, stats))) continue;
      await rename(taken.path, target);
      await this.#leave(taken.room);
      return join(outcome, name);
    }
    throw new Error(`${outcome}/ has too many files named ${taken.name}`);
  }

  #own(name: string): string {
    return join(this.path, name);
  }

  async #leave(room: string): Promise<void> {
    await rm(join(room, NOTE), { force: true });
    await rm(join(room, `${NOTE}.new`), { force: true });
    await rmdir(room);
  }
}

/**
 * Has what we have made for those who have the other one: a service keeps its files to itself, and people read there why
 * theirs were not printed. As far as this user may.
 * @param most the rights that it may have
 */
async function share(made: FileHandle, { mode, gid }: Stats, most: number): Promise<void> {
  await made.chown(-1, gid).catch(() => undefined);
  await made.chmod((mode & most) | (most & 0o700)).catch(() => undefined);
}

/**
 * Makes a file of this name, and the text beside it, where there is neither.
 * @param stats of the file that will have this name
 * @returns false where there is one already
 * @throws the system's error, as on a full disk; then neither is there
 */
async function isOurs(path: string, text: string, stats: Stats): Promise<boolean> {
  const made: string[] = [];
  try {
    for (const [file, content] of [
      [path, ''],
      [`${path}.txt`, text],
    ] as const) {
      await using handle = await open(file, 'wx');
      made.push(file);
      await handle.writeFile(content);
      await share(handle, stats, 0o666);
    }
    return true;
  } catch (error) {
    for (const file of made) await rm(file);
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

function shortened(text: string, bytes: number): string {
  let short = text;
  while (Buffer.byteLength(short) > bytes) short = short.slice(0, -1);
  return short;
}
