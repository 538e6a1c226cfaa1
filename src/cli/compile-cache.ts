/**
 * What Node has compiled is kept from one command to the next: half of the time of a short one. In the user's own home, as
 * the system has it and not as the environment says: whoever could write there could put code of his own into it.
 */
import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { userInfo } from 'node:os';
import { join } from 'node:path';

export function keepCompiled(): void {
  if (process.platform === 'win32') return;
  try {
    const { uid, homedir } = userInfo();
    const directory = join(homedir, '.cache', 'platen');
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const stats = lstatSync(directory);
    if (!stats.isDirectory() || stats.uid !== uid || lstatSync(homedir).uid !== uid) return;
    chmodSync(directory, 0o700);
    enableCompileCache(directory);
  } catch {
    // A user without a home, or with one that cannot be written: it only takes longer.
  }
}
