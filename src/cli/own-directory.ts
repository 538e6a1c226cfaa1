/** The data directory of a program that runs for long: it is written with the rights of its owner alone. */
import { existsSync, statSync } from 'node:fs';
import { USER } from '../contract/own-user.ts';
import { accountOf } from '../server/store/own-account.ts';
import { INSTALLED_FILES, kindOf } from './config-file.ts';
import { CommandFailure, EXIT } from './failure.ts';
import { startedAsUser } from './linux-service/unit.ts';

/** Where a program that is installed keeps its state; a clone keeps it in `usual`. */
export function ownDirectory(usual: string): string {
  return process.env['PLATEN_DATA'] || usual;
}

/** Has root go on, for good, as the owner of the directory, who could not use what root makes there. */
export function becomeOwner(dataDir: string): void {
  const owner = statSync(dataDir, { throwIfNoEntry: false });
  if (owner === undefined || process.getuid?.() !== 0 || owner.uid === 0) return;
  process.setgroups?.([]);
  process.setgid?.(owner.gid);
  process.setuid?.(owner.uid);
}

/**
 * Refuses a start on the directory of the service's user by anybody else: what root makes there the service cannot use
 * afterwards, and a second service beside it is not what a person wants.
 * @param role the command, such as `up`
 */
export function needsOwner(role: string, dataDir: string): void {
  const own = process.getuid?.();
  const stats = own === undefined ? undefined : statSync(dataDir, { throwIfNoEntry: false });
  if (stats === undefined || stats.uid === own) return;
  if (stats.uid !== accountOf(USER)?.uid) return;
  const config = INSTALLED_FILES.find(
    (file) => existsSync(file) && (role === 'agent') === (kindOf(file) === 'agent'),
  );
  const words = `platen ${role}${config === undefined ? '' : ` --config ${config}`} --data ${dataDir}`;
  const start = existsSync('/run/systemd/system')
    ? `systemctl start platen${role === 'agent' ? '-agent' : ''}`
    : startedAsUser(words);
  throw new CommandFailure(
    `${dataDir} belongs to ${USER}, as whom alone Platen runs on it: as root, ${start}. ` +
      'For another one beside it, name its directory with --data.',
    EXIT.usage,
  );
}
