/** `platen service` under systemd. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { Argument, Command } from 'commander';
import { STATE } from '../../contract/own-user.ts';
import { CommandFailure, EXIT } from '../failure.ts';
import { printJson, printLine } from '../output.ts';
import { configOf, install, installedRole, type ServiceRole, UNITS, uninstall } from './install.ts';
import { thisProgram } from './program.ts';

const ROLES = ['agent', 'up'] as const;

export function linuxServiceCommand(): Command {
  const service = new Command('service').description(
    'run this program as a service of this machine (systemd)',
  );
  service
    .command('install')
    .description('make it a service with a user of its own, start it, and say what was done')
    .addArgument(
      new Argument(
        '[role]',
        'an agent alone, or service and agent; by default what this program has',
      ).choices(ROLES),
    )
    .action((told: ServiceRole | undefined) => {
      const program = thisProgram();
      const role = told ?? (program.isAgentAlone ? 'agent' : 'up');
      if (role === 'up' && program.isAgentAlone) {
        throw new CommandFailure('This program has no service in it: take the package platen.', EXIT.usage);
      }
      needsRoot(`install ${role}`);
      needsSystemd();
      install(program, role, printLine);
    });
  service
    .command('uninstall')
    .description('end it, and take the service away; what it kept stays')
    .option('--purge', 'also what it kept, and its configuration')
    .action(({ purge }: { purge?: true }) => {
      needsRoot(`uninstall${purge ? ' --purge' : ''}`);
      needsSystemd();
      const role = installedRole();
      if (role === null && !purge) throw new CommandFailure('There is no service of Platen here.');
      uninstall(role, purge === true, thisProgram().command, printLine);
    });
  service
    .command('status')
    .description('say whether it runs; exit code 1 when it does not')
    .option('--json', 'print JSON')
    .action(({ json }: { json?: true }) => {
      needsSystemd();
      const role = installedRole();
      if (role === null)
        throw new CommandFailure('There is no service of Platen here: "platen service install".');
      const state = stateOf(UNITS[role]);
      const told = { unit: UNITS[role], ...state, config: configOf(role), data: STATE };
      if (json) printJson(told);
      else {
        for (const [name, value] of Object.entries(told)) printLine(`${name.padEnd(10)} ${value}`);
        printLine(`\nWhat it says: journalctl -u ${UNITS[role]} -f\nWhy it does not print: platen doctor`);
      }
      if (state.state !== 'active') throw new CommandFailure(`${UNITS[role]} is ${state.state}.`);
    });
  return service;
}

function stateOf(unit: string) {
  const properties = 'ActiveState,SubState,MainPID,NRestarts,ActiveEnterTimestamp,UnitFileState';
  const text = execFileSync('systemctl', ['show', unit, '-p', properties], {
    encoding: 'utf8',
    timeout: 20_000,
  });
  const told = new Map(
    text.split('\n').map((line) => [line.split('=', 1)[0] ?? '', line.slice(line.indexOf('=') + 1)]),
  );
  return {
    state: told.get('ActiveState') ?? 'unknown',
    since: told.get('ActiveEnterTimestamp') ?? '',
    process: Number(told.get('MainPID') ?? 0),
    restarts: Number(told.get('NRestarts') ?? 0),
    atStart: told.get('UnitFileState') ?? '',
  };
}

function needsSystemd(): void {
  if (existsSync('/run/systemd/system')) return;
  throw new CommandFailure(
    'systemd does not run here: start the program with what does, as docs/install-linux.md says.',
    EXIT.usage,
  );
}

/** @throws CommandFailure with the command as it has to be typed */
function needsRoot(words: string): void {
  if (process.getuid?.() === 0) return;
  const { home, root } = thisProgram();
  const program = home === null ? `${root}/service/platen` : `${root}/bin/platen`;
  throw new CommandFailure(`Only root may do that: sudo ${program} service ${words}`, EXIT.usage);
}
