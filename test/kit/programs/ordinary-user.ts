/** An ordinary user for tests that run as root: `nobody`, where it can read this checkout at all. */
import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = process.getuid?.() === 0;

/** undefined when the tests are not run by root. */
export const nobody = root
  ? { uid: Number(execFileSync('id', ['-u', 'nobody'])), gid: Number(execFileSync('id', ['-g', 'nobody'])) }
  : undefined;

/**
 * Whether `nobody` can run the sources: in a directory that only root can enter (mktemp -d makes such) nobody can,
 * whatever Platen does. Tests that need it then say that they are skipped.
 */
export const nobodyCanRun =
  nobody !== undefined &&
  spawnSync('ls', [fileURLToPath(new URL('../../../src', import.meta.url))], { ...nobody, stdio: 'ignore' })
    .status === 0;
