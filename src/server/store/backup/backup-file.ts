/**
 * The file of a back-up. Its first line is JSON that says what it is; the rest, compressed by gzip, is frames: a letter, four
 * bytes of length, and so many bytes.
 *
 *     T  JSON: the table, and the columns of what follows
 *     D  rows of that table, as COPY writes them: any piece of them
 *     S  JSON: where the counters of the tables stand
 *     E  SHA-256 of the first line and of all frames before: the end
 *
 * Both sides hold a piece at a time, whatever the file's size.
 */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGunzip, createGzip } from 'node:zlib';
import { z } from 'zod';
import { BackupError } from './backup-error.ts';

/** Raised when an older version could not read the file, or would read it wrongly. */
const VERSION = 1;
const LONGEST_LINE = 64 * 1024;
/** Most bytes of a frame. */
const LARGEST = 1024 * 1024;
const HEAD = 5;

const name = z.string().regex(/^[a-z_][a-z0-9_]*$/);
const table = z.object({ table: name, columns: z.array(name).min(1) });
const counters = z.array(z.object({ name, last: z.string().regex(/^\d+$/) }));
const format = z.object({ format: z.literal('platen-backup'), version: z.int() });
const about = format.extend({
  /** The version of Platen that wrote it. */
  platen: z.string(),
  /** When the snapshot was taken. */
  at: z.iso.datetime(),
  /** The files that had made the schema, in their order. */
  schema: z.array(z.object({ name: z.string(), sha256: z.string() })).min(1),
});
type AboutBackup = z.infer<typeof about>;

export type BackupPart =
  | ({ kind: 'table' } & z.infer<typeof table>)
  | { kind: 'rows'; bytes: Buffer }
  | { kind: 'counters'; counters: z.infer<typeof counters> };

/**
 * Writes the file, which only its owner can read. It has its name when it is complete and on the disk; until then it is called
 * `FILE.part`.
 * @throws BackupError `exists`
 */
export async function writeBackup(
  file: string,
  { platen, at, schema }: Pick<AboutBackup, 'platen' | 'at' | 'schema'>,
  parts: AsyncIterable<BackupPart>,
  signal: AbortSignal,
): Promise<void> {
  const part = `${file}.part`;
  if (existsSync(file)) throw thereAlready(file);
  const target = await open(part, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? thereAlready(part) : error;
  });
  try {
    try {
      const head = `${JSON.stringify({ format: 'platen-backup', version: VERSION, platen, at, schema })}\n`;
      await target.writeFile(head);
      const frames = Readable.from(framesOf(head, parts), { objectMode: false });
      const zip = createGzip({ level: constants.Z_BEST_SPEED });
      const write = async (chunks: AsyncIterable<Buffer>) => {
        for await (const chunk of chunks) await target.writeFile(chunk);
      };
      await pipeline(frames, zip, write, { signal });
      await target.sync();
    } finally {
      await target.close();
    }
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

function thereAlready(file: string): BackupError {
  return new BackupError('exists', `${file} is there already: name another file, or remove it`);
}

async function* framesOf(head: string, parts: AsyncIterable<BackupPart>): AsyncGenerator<Buffer> {
  const hash = createHash('sha256').update(head);
  for await (const part of parts) {
    for (const one of pieces(part)) {
      hash.update(one);
      yield one;
    }
  }
  yield frame('E', hash.digest());
}

function* pieces(part: BackupPart): Generator<Buffer> {
  if (part.kind === 'table')
    yield frame('T', Buffer.from(JSON.stringify({ table: part.table, columns: part.columns })));
  else if (part.kind === 'counters') yield frame('S', Buffer.from(JSON.stringify(part.counters)));
  else
    for (let from = 0; from < part.bytes.length; from += LARGEST)
      yield frame('D', part.bytes.subarray(from, from + LARGEST));
}

function frame(letter: string, bytes: Buffer): Buffer {
  const head = Buffer.alloc(HEAD);
  head.write(letter, 'latin1');
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

/**
 * What the first line says.
 * @throws BackupError `not-a-backup`, `newer`; the error of a file that cannot be read
 */
export async function aboutBackup(file: string): Promise<AboutBackup> {
  return (await headOf(file)).about;
}

async function headOf(file: string): Promise<{ about: AboutBackup; line: Buffer }> {
  const source = await open(file);
  try {
    const { buffer, bytesRead } = await source.read(Buffer.alloc(LONGEST_LINE), 0, LONGEST_LINE, 0);
    const end = buffer.subarray(0, bytesRead).indexOf('\n');
    const line = buffer.subarray(0, end + 1);
    const said = jsonOf(line);
    const known = format.safeParse(said);
    if (!known.success) throw new BackupError('not-a-backup', `${file} is no back-up of Platen's`);
    if (known.data.version > VERSION) {
      const which = z.object({ platen: z.string() }).safeParse(said).data?.platen ?? 'a later version';
      throw new BackupError(
        'newer',
        `${file} was written by Platen ${which} in form ${known.data.version}; this version reads form ${VERSION}: restore it with that version, or a later one`,
      );
    }
    const read = about.safeParse(said);
    if (!read.success) throw damaged(file, 'its first line is not as it was written');
    return { about: read.data, line };
  } finally {
    await source.close();
  }
}

/**
 * The parts in their order. The last step ends without an error only where the file is whole: what was done with the parts
 * may count from then on.
 * @throws BackupError `not-a-backup`, `newer`, `damaged`
 */
export async function* readBackup(file: string): AsyncGenerator<BackupPart> {
  const { line } = await headOf(file);
  const hash = createHash('sha256').update(line);
  const source = createReadStream(file, { start: line.length });
  const unzipped = source.pipe(createGunzip());
  source.on('error', (error) => unzipped.destroy(error));
  let kept = Buffer.alloc(0);
  let whole = false;
  try {
    for await (const chunk of unzipped) {
      if (whole) throw damaged(file, 'something follows its end');
      kept = kept.length === 0 ? chunk : Buffer.concat([kept, chunk]);
      for (let length = frameIn(file, kept); length !== null; length = frameIn(file, kept)) {
        const bytes = kept.subarray(0, length);
        kept = kept.subarray(length);
        if (bytes[0] !== E) {
          hash.update(bytes);
          yield partOf(file, bytes);
          continue;
        }
        if (kept.length > 0) throw damaged(file, 'something follows its end');
        if (!hash.digest().equals(bytes.subarray(HEAD))) throw damaged(file, 'its checksum does not fit');
        whole = true;
        break;
      }
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_'))
      throw damaged(file, 'it was cut off, or changed', error);
    throw error;
  } finally {
    source.destroy();
    unzipped.destroy();
  }
  if (!whole) throw damaged(file, 'its end is missing');
}

const E = 'E'.charCodeAt(0);

/** How long the first frame is, with its head; null: not all of it is there yet. */
function frameIn(file: string, bytes: Buffer): number | null {
  if (bytes.length < HEAD) return null;
  const length = bytes.readUInt32BE(1);
  if (length > LARGEST) throw damaged(file, 'a piece of it is too large');
  return bytes.length < HEAD + length ? null : HEAD + length;
}

function partOf(file: string, bytes: Buffer): BackupPart {
  const inside = bytes.subarray(HEAD);
  const letter = String.fromCharCode(bytes[0] ?? 0);
  if (letter === 'D') return { kind: 'rows', bytes: inside };
  const said = jsonOf(inside);
  const [asTable, asCounters] = [table.safeParse(said), counters.safeParse(said)];
  if (letter === 'T' && asTable.success) return { kind: 'table', ...asTable.data };
  if (letter === 'S' && asCounters.success) return { kind: 'counters', counters: asCounters.data };
  throw damaged(file, 'a piece of it is unknown');
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

function damaged(file: string, why: string, cause?: unknown): BackupError {
  return new BackupError('damaged', `${file} is not whole: ${why}. Nothing of it was restored`, { cause });
}
