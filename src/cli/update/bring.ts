/** Fetches manifest and archive, from a file or an address, and never more bytes than they may have. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { explain } from '../explain.ts';
import { LONGEST_ENVELOPE, type Manifest } from './manifest.ts';
import { UpdateError } from './update-error.ts';

/** Longest silence of the server, and longest time for the whole download, ms. */
const SILENT_MS = 30_000;
const LONGEST_MS = 3_600_000;

/** The signed manifest's text. @throws UpdateError `not-reached`, `unreadable` */
export async function bringManifest(source: string): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of bytesOf(source, LONGEST_ENVELOPE)) parts.push(part);
  return Buffer.concat(parts).toString();
}

/** The place of the archive, which lies beside its manifest. */
export function beside(source: string, name: string): string {
  const url = webAddress(source);
  if (url !== null) return new URL(name, url).href;
  return source.slice(0, source.length - basename(source).length) + name;
}

/**
 * Writes the archive, and checks its size and hash.
 * @throws UpdateError `archive-wrong` where size or hash is another, `not-reached`
 */
export async function bringArchive(source: string, { size, sha256 }: Manifest, file: string): Promise<void> {
  const hash = createHash('sha256');
  let written = 0;
  const out = await open(file, 'w', 0o600);
  try {
    for await (const part of bytesOf(source, size)) {
      hash.update(part);
      written += part.length;
      await out.writeFile(part);
    }
    await out.sync();
  } finally {
    await out.close();
  }
  if (written !== size || hash.digest('hex') !== sha256) {
    throw new UpdateError(
      'archive-wrong',
      `${source} is not the archive that was signed (${written} of ${size} bytes)`,
    );
  }
}

async function* bytesOf(source: string, most: number): AsyncGenerator<Uint8Array> {
  let received = 0;
  for await (const part of webAddress(source) === null ? fileBytes(source) : webBytes(source)) {
    received += part.length;
    if (received > most) throw new UpdateError('archive-wrong', `${source} is longer than ${most} bytes`);
    yield part;
  }
}

async function* fileBytes(path: string): AsyncGenerator<Uint8Array> {
  try {
    if (!(await stat(path)).isFile()) throw new Error('it is no file');
    for await (const part of createReadStream(path))
      yield part instanceof Uint8Array ? part : Buffer.from(part);
  } catch (error) {
    throw new UpdateError('not-reached', `${path} cannot be read: ${explain(error)}`, { cause: error });
  }
}

async function* webBytes(address: string): AsyncGenerator<Uint8Array> {
  const controller = new AbortController();
  const deadline = setTimeout(() => controller.abort(new Error('it takes too long')), LONGEST_MS);
  const silent = setTimeout(() => controller.abort(new Error('no answer')), SILENT_MS);
  try {
    const response = await fetch(address, { signal: controller.signal });
    if (!response.ok) throw new Error(`status ${response.status}`);
    for await (const part of response.body ?? []) {
      silent.refresh();
      yield part;
    }
  } catch (error) {
    throw new UpdateError('not-reached', `${address} cannot be fetched: ${explain(error)}`, { cause: error });
  } finally {
    clearTimeout(deadline);
    clearTimeout(silent);
    controller.abort();
  }
}

function webAddress(source: string): URL | null {
  return /^https?:\/\//i.test(source) ? URL.parse(source) : null;
}
