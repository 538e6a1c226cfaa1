/** Archives that would leave their directory, whatever their hash is. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { packTar, type TarEntry } from 'modern-tar';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Manifest } from '../../src/cli/update/manifest.ts';
import { unpack } from '../../src/cli/update/unpack.ts';
import { isOlder } from '../../src/cli/update/version-order.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'platen-unpack-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const MANIFEST: Manifest = {
  format: 1,
  name: 'platen-agent',
  version: '1.0.0',
  platform: 'linux-x64',
  archive: 'a.tar.gz',
  size: 1,
  sha256: '0'.repeat(64),
  unpacked: 100,
  entries: 5,
};
const file = (name: string, body = 'x'): TarEntry => ({
  header: { name, size: Buffer.byteLength(body) },
  body,
});
const link = (name: string, linkname: string, type: 'symlink' | 'link' = 'symlink'): TarEntry => ({
  header: { name, size: 0, type, linkname },
});

async function unpacked(entries: TarEntry[]): Promise<string> {
  const archive = join(directory, 'a.tar.gz');
  writeFileSync(archive, gzipSync(await packTar(entries)));
  const into = join(directory, 'into');
  return await unpack(archive, MANIFEST, into);
}

test('files, directories and links within', async () => {
  const into = await unpacked([
    { header: { name: '1.0.0/', size: 0, type: 'directory' } },
    { header: { name: '1.0.0/bin/run', size: 2, mode: 0o755 }, body: 'hi' },
    link('1.0.0/bin/same', 'run'),
  ]);
  expect(readFileSync(join(into, 'bin/same'), 'utf8')).toBe('hi');
});

test.each([
  ['a way up', [file('1.0.0/../../out')]],
  ['another directory', [file('elsewhere/out')]],
  ['an absolute path', [file('/1.0.0/out')]],
  ['the directory above', [file('1.0.0/../out')]],
  ['a name that begins alike', [file('1.0.0x/out')]],
  ['a backslash', [file('1.0.0/..\\out')]],
  ['a link that leads out', [link('1.0.0/a', '../../out')]],
  ['an absolute link', [link('1.0.0/a', '/etc/passwd')]],
  ['a file behind a link', [link('1.0.0/a', 'b'), file('1.0.0/a/out')]],
  ['a hard link', [link('1.0.0/a', '1.0.0/b', 'link')]],
  ['a device', [{ header: { name: '1.0.0/a', size: 0, type: 'character-device' as const } }]],
  ['more bytes than were signed', [file('1.0.0/a', 'x'.repeat(60)), file('1.0.0/b', 'x'.repeat(60))]],
  ['more entries than were signed', Array.from({ length: 6 }, (_, at) => file(`1.0.0/${at}`))],
])('%s', async (_what, entries) => {
  await expect(unpacked(entries)).rejects.toMatchObject({ code: 'archive-unsafe' });
  expect(readdirSync(directory)).toEqual(['a.tar.gz']);
  expect(existsSync(join(directory, '../out'))).toBe(false);
});

test('no archive at all', async () => {
  writeFileSync(join(directory, 'b.tar.gz'), 'no gzip');
  await expect(unpack(join(directory, 'b.tar.gz'), MANIFEST, join(directory, 'into'))).rejects.toMatchObject({
    code: 'archive-wrong',
  });
  writeFileSync(join(directory, 'b.tar.gz'), gzipSync('no tar'.repeat(200)));
  await expect(unpack(join(directory, 'b.tar.gz'), MANIFEST, join(directory, 'into'))).rejects.toMatchObject({
    code: 'archive-wrong',
  });
});

test('which version is older', () => {
  const order = [
    '0.9.9',
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-alpha.beta',
    '1.0.0-beta.2',
    '1.0.0-beta.11',
    '1.0.0',
    '1.0.1',
    '1.10.0',
    '2.0.0',
  ];
  for (const [a, one] of order.entries()) {
    for (const [b, other] of order.entries()) expect(isOlder(one, other), `${one} < ${other}`).toBe(a < b);
  }
});
