/** Makes a program a systemd service with a user of its own, and undoes it. Steps may be done already. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { ENROLMENT, STATE, USER } from '../../contract/own-user.ts';
import { ownAccount, whyNotRun } from '../../server/store/own-account.ts';
import { CommandFailure } from '../failure.ts';
import { whoWorksOn } from './in-use.ts';
import type { Program } from './program.ts';
import { CONFIGURATION, unitText } from './unit.ts';

/** What runs: an agent alone, or service and agent. */
export type ServiceRole = 'agent' | 'up';
export const UNITS: Readonly<Record<ServiceRole, string>> = { agent: 'platen-agent', up: 'platen' };
const ON_PATH = '/usr/local/bin/platen';
const DESCRIPTIONS: Readonly<Record<ServiceRole, string>> = {
  agent: 'Print agent that drives label printers',
  up: 'Label print service, with the agent that drives the printers',
};
const AGENT_SETTINGS = { printers: [], discovery: { dnsSd: true, usb: true } };
/** The configuration that a new installation begins with. */
export const SETTINGS: Readonly<Record<ServiceRole, object>> = {
  agent: AGENT_SETTINGS,
  up: { host: '127.0.0.1', port: 8310, agent: AGENT_SETTINGS },
};

export const configOf = (role: ServiceRole) =>
  join(CONFIGURATION, role === 'agent' ? 'agent.json' : 'platen.json');
const unitFile = (role: ServiceRole) => `/etc/systemd/system/${UNITS[role]}.service`;

/** @param says called with a line for each step @returns whether it was started @throws CommandFailure */
export function install(program: Program, role: ServiceRole, says: (line: string) => void): boolean {
  const other = UNITS[role === 'agent' ? 'up' : 'agent'];
  for (const unit of [UNITS[role], other]) {
    if (existsSync(`/lib/systemd/system/${unit}.service`)) {
      throw new CommandFailure(`apt has installed ${unit}: remove that first, or keep to it`);
    }
  }
  if (existsSync(`/etc/systemd/system/${other}.service`)) {
    throw new CommandFailure(`${other} is a service here already, and both keep their state in ${STATE}`);
  }
  const account = ownAccount(() => says(`the user ${USER}, who cannot log in`));
  makeDirectories(role, says);
  if (program.home !== null) layBeside(program, program.home, says);
  const why = whyNotRun(account, program.command);
  if (why !== null) {
    throw new CommandFailure(
      `the user ${USER} cannot run ${program.command} (${why}): have it where others can read it, such as /opt/platen`,
    );
  }
  const words = `${role} --config ${configOf(role)} --data ${STATE}`;
  const text = unitText({
    description: DESCRIPTIONS[role],
    command: `${program.command} ${words}`,
    ...(program.home !== null && { guard: `${program.home}/launch guard` }),
    ...(/^\/(home|root|run\/user)\//.test(program.root) && { inHome: true as const }),
  });
  writeFileSync(unitFile(role), text);
  says(`${unitFile(role)}: runs ${program.command} ${words}`);
  systemctl('daemon-reload');
  systemctl('enable', '--quiet', UNITS[role]);
  says(`${UNITS[role]} starts with the machine`);
  if (role === 'agent' && !knowsItsService()) {
    says(
      `not started yet: enrol it (platen agent enroll … --data ${STATE}), or set "redisUrl" in ${configOf(role)}, then: systemctl start ${UNITS[role]}`,
    );
    return false;
  }
  systemctl('restart', '--no-block', UNITS[role]);
  says(`started: platen service status`);
  return true;
}

/** Whether an agent would find its service. */
function knowsItsService(): boolean {
  return readFileSync(configOf('agent'), 'utf8').includes('"redisUrl"') || existsSync(join(STATE, ENROLMENT));
}

function makeDirectories(role: ServiceRole, says: (line: string) => void): void {
  execFileSync('install', ['-d', '-o', USER, '-g', USER, '-m', '0700', STATE]);
  execFileSync('install', ['-d', '-o', 'root', '-g', USER, '-m', '0750', CONFIGURATION]);
  says(`${STATE} for its state, which nobody else can read`);
  const config = configOf(role);
  if (existsSync(config)) {
    says(`${config} stays as it is`);
    // What dpkg keeps of a package that was removed: a purge deletes its configuration, whoever uses it by then.
    if (existsSync(`/var/lib/dpkg/info/${UNITS[role]}.postrm`))
      says(`apt counts it to the removed package ${UNITS[role]}: keep a copy before you purge that`);
    return;
  }
  writeFileSync(config, `${JSON.stringify(SETTINGS[role], null, 2)}\n`, { mode: 0o640 });
  execFileSync('chown', [`root:${USER}`, config]);
  says(`${config}, to be edited`);
}

/** Makes the link to the version that runs, the script that guards it, and the command on the PATH. */
function layBeside({ root, version, command }: Program, home: string, says: (line: string) => void): void {
  const link = join(home, 'current');
  rmSync(`${link}.new`, { force: true });
  symlinkSync(version, `${link}.new`);
  renameSync(`${link}.new`, link);
  copyFileSync(join(root, 'bin/launch'), join(home, 'launch.new'));
  chmodSync(join(home, 'launch.new'), 0o755);
  renameSync(join(home, 'launch.new'), join(home, 'launch'));
  says(`${link} leads to ${version}`);
  const there = lstatSync(ON_PATH, { throwIfNoEntry: false });
  if (there !== undefined && !(there.isSymbolicLink() && readlinkSync(ON_PATH).endsWith('/bin/platen'))) {
    says(`${ON_PATH} is something else, and stays`);
    return;
  }
  rmSync(ON_PATH, { force: true });
  mkdirSync('/usr/local/bin', { recursive: true });
  symlinkSync(command, ON_PATH);
  says(`${ON_PATH} leads to ${command}`);
}

/**
 * @param role null: the service is gone already
 * @param purge also remove what it kept: jobs, journal, keys, configuration
 * @param command by which what it kept can still be purged afterwards
 * @throws CommandFailure where another program works on what would be removed
 */
export function uninstall(
  role: ServiceRole | null,
  purge: boolean,
  command: string,
  says: (line: string) => void,
): void {
  if (role !== null) takeAway(role, says);
  if (!purge) {
    says(`${STATE} and ${CONFIGURATION} stay; they go too with: sudo ${command} service uninstall --purge`);
    return;
  }
  const process = whoWorksOn(STATE);
  if (process !== undefined) {
    throw new CommandFailure(
      `process ${process} has files open in ${STATE}: end it with what has started it, then: sudo ${command} service uninstall --purge`,
    );
  }
  rmSync(STATE, { recursive: true, force: true });
  rmSync(CONFIGURATION, { recursive: true, force: true });
  says(`${STATE} and ${CONFIGURATION} are gone; the user ${USER} and the program stay`);
}

function takeAway(role: ServiceRole, says: (line: string) => void): void {
  if (!existsSync(unitFile(role))) {
    throw new CommandFailure(`${UNITS[role]} is no service that "platen service install" has made`);
  }
  systemctl('disable', '--quiet', '--now', UNITS[role]);
  rmSync(unitFile(role));
  systemctl('daemon-reload');
  says(`${UNITS[role]} has ended, and does not start any more`);
  if (lstatSync(ON_PATH, { throwIfNoEntry: false })?.isSymbolicLink()) {
    if (readlinkSync(ON_PATH).endsWith('/current/bin/platen')) rmSync(ON_PATH);
  }
}

function systemctl(...args: string[]): void {
  const { status, stderr } = spawnSync('systemctl', args, { encoding: 'utf8', timeout: 120_000 });
  if (status !== 0)
    throw new CommandFailure(`systemctl ${args.join(' ')}: ${stderr.trim() || `ended with ${status}`}`);
}

/** The role that is installed here; null: none. */
export function installedRole(): ServiceRole | null {
  const roles: readonly ServiceRole[] = ['up', 'agent'];
  const isThere = (role: ServiceRole) =>
    existsSync(unitFile(role)) || existsSync(`/lib/systemd/system/${UNITS[role]}.service`);
  return roles.find(isThere) ?? null;
}
