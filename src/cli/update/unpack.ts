/** Unpacks an archive whose hash was right; even so, no entry may leave its directory. */
import { createReadStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { unpackTar } from 'modern-tar/fs';
import type { Manifest } from './manifest.ts';
import { UpdateError } from './update-error.ts';

interface Entry {
  name: string;
  size: number;
  type?: string;
  linkname?: string;
}

/**
 * @param into made anew; afterwards it holds what the archive has, which is one directory
 * @returns that directory, `<into>/<version>`
 * @throws UpdateError `archive-unsafe`, `archive-wrong`
 */
export async function unpack(archive: string, manifest: Manifest, into: string): Promise<string> {
  await rm(into, { recursive: true, force: true });
  await mkdir(into, { recursive: true, mode: 0o755 });
  const allow = gate(manifest);
  try {
    await pipeline(
      createReadStream(archive),
      createGunzip(),
      unpackTar(into, { strict: true, filter: (header) => allow(header) }),
    );
    return join(into, manifest.version);
  } catch (error) {
    await rm(into, { recursive: true, force: true });
    if (error instanceof UpdateError) throw error;
    throw new UpdateError('archive-wrong', `the archive cannot be unpacked: ${String(error)}`, {
      cause: error,
    });
  }
}

/** Allows files, directories and links within the version's own directory, and no more than was signed. */
function gate({ version, unpacked, entries }: Manifest): (entry: Entry) => true {
  let [bytes, count] = [0, 0];
  const links = new Set<string>();
  return ({ name, size, type = 'file', linkname = '' }) => {
    const refuse = (why: string): never => {
      throw new UpdateError(
        'archive-unsafe',
        `the archive's entry ${JSON.stringify(name.slice(0, 200))} ${why}`,
      );
    };
    const path = posix.normalize(name).replace(/\/$/, '');
    const isInside = path === version || path.startsWith(`${version}/`);
    if (!isInside || name.includes('\\') || name.includes('\0')) refuse('would not stay in its directory');
    for (let above = posix.dirname(path); above !== '.'; above = posix.dirname(above)) {
      if (links.has(above)) refuse('lies behind a link');
    }
    if (type === 'symlink') {
      const target = posix.normalize(posix.join(posix.dirname(path), linkname));
      if (posix.isAbsolute(linkname) || !target.startsWith(`${version}/`))
        refuse('leads out of its directory');
      links.add(path);
    } else if (type !== 'file' && type !== 'directory')
      refuse(`is neither file, directory nor link, but ${type}`);
    bytes += size;
    count += 1;
    if (bytes > unpacked || count > entries) refuse('is more than was signed');
    return true;
  };
}
