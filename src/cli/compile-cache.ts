/**
 * Keeps what Node has compiled from one command to the next, which saves half of the time of a short command.
 * The cache is in the user's home as the system knows it, not as the environment says: whoever can write to
 * the cache can put code of their own into it.
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
    // Without a home that can be written, commands only take longer.
  }
}
