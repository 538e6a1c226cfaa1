/** Who may start a program on a data directory. */
import { execFileSync } from 'node:child_process';
import { chownSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { needsOwner } from '../../src/cli/own-directory.ts';
import { ownAccount } from '../../src/server/store/own-account.ts';
import { platen } from '../kit/service/platen.ts';

test.runIf(process.getuid?.() === 0)(
  'root does not start on what the service has, and is told how to',
  async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'platen-own-'));
    needsOwner('up', dataDir);
    const { uid, gid } = ownAccount(() => {});
    chownSync(dataDir, uid, gid);
    // As the launcher of a package says where the service keeps its state.
    const { code, stderr } = await platen(['up', '--port', '0'], { PLATEN_DATA: dataDir });
    expect(code).toBe(2);
    expect(stderr).toContain(`${dataDir} belongs to platen`);
    expect(stderr).toMatch(/as root, (setpriv --reuid platen .* platen up|systemctl start platen)/);
    expect(execFileSync('find', [dataDir, '!', '-user', 'platen'], { encoding: 'utf8' })).toBe('');
    expect(() => needsOwner('up', join(dataDir, 'not there'))).not.toThrow();
  },
);
