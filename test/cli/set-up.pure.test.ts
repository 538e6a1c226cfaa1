/** The set-up, on a machine whose npm has installed Platen's own Node without making it a command. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

test.skipIf(process.platform === 'win32')(
  'npm left no command for Node: the set-up makes it, and goes on with it',
  () => {
    const root = mkdtempSync(join(tmpdir(), 'platen-set-up-'));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const bin = join(root, `node_modules/node-${process.platform}-${process.arch}/bin`);
    mkdirSync(bin, { recursive: true });
    symlinkSync(process.execPath, join(bin, 'node'));
    // All is installed.
    writeFileSync(join(root, 'package-lock.json'), '{}');
    const lock = createHash('sha256').update('{}').digest('hex');
    writeFileSync(join(root, 'node_modules/.platen-setup'), lock);
    cpSync(join(import.meta.dirname, '../../service/setup.cjs'), join(root, 'service/setup.cjs'));
    writeFileSync(
      join(root, 'service/console.ts'),
      'const built: string = process.argv0; console.log(built);',
    );
    const command = join(root, 'node_modules/.bin/node');
    for (const _time of ['made', 'there already']) {
      const { status, stderr } = spawnSync(process.execPath, ['service/setup.cjs'], {
        cwd: root,
        encoding: 'utf8',
      });
      expect({ status, said: stderr.trim() }).toEqual({
        status: 0,
        said: join(realpathSync(root), 'node_modules/.bin/node'),
      });
      expect(realpathSync(command)).toBe(realpathSync(process.execPath));
    }
  },
);
