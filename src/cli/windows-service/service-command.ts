import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { z } from 'zod';
import { ENROLMENT } from '../../contract/own-user.ts';
import { agentCommand } from '../agent.ts';
import { enrollAgent } from '../enrolment.ts';
import { CommandFailure } from '../failure.ts';
import { printJson, printLine } from '../output.ts';
import { makePrivate, READS, WRITES } from './private-directory.ts';
import { runService } from './run-service.ts';
import {
  installService,
  removeService,
  serviceStatus,
  startService,
  stopService,
} from './service-registry.ts';
import { SERVICE_NAME, windowsPlaces } from './windows-places.ts';

/** The configuration that a new installation begins with. */
const FIRST_CONFIG = { printers: [], discovery: { dnsSd: true, winspool: true } };

/** For Node: an agent mostly waits, and V8 would keep the 30 MB that its start took for new objects. */
const FLAGS = ['--max-semi-space-size=2'];

/** `platen service` on Windows. */
export function windowsServiceCommand(): Command {
  const service = new Command('service').description('the agent as a service of this machine');
  service
    .command('install')
    .description('make the service, or let it run this version from now on, and start it')
    .option(
      '--enroll <invitation>',
      'have its agent known to a service elsewhere first, as "platen agent enroll" does; empty: not',
    )
    .option('--no-start', 'do not start it')
    .action(install);
  service
    .command('uninstall')
    .description('stop the service, and remove it; configuration and data stay')
    .action(async () => {
      const removed = await removeService(SERVICE_NAME);
      const { home } = windowsPlaces();
      printLine(
        removed ? `${SERVICE_NAME} is removed; ${home} stays` : `There is no service ${SERVICE_NAME}`,
      );
    });
  service
    .command('start')
    .description('start it, and wait until it works')
    .action(async () => await startService(SERVICE_NAME));
  service
    .command('stop')
    .description('stop it, and wait until labels under way have come to their end')
    .action(async () => await stopService(SERVICE_NAME));
  service
    .command('status')
    .description('whether it runs, and where it has what')
    .option('--json', 'as JSON')
    .action(async ({ json }: { json?: true }) => await status(json === true));
  service
    .command('run', { hidden: true })
    .description('what the service manager of Windows starts')
    .argument('<home>', 'where configuration and data are')
    .action(async (home: string) => await runService(agentCommand(), home));
  return service;
}

async function install({ enroll, start }: { enroll?: string; start: boolean }): Promise<void> {
  const { home, config, data, logs } = windowsPlaces();
  await stopService(SERVICE_NAME);
  await makePrivate(home, SERVICE_NAME, READS);
  if (!existsSync(config)) writeFileSync(config, `${JSON.stringify(FIRST_CONFIG, null, 2)}\r\n`);
  const { made, unknown } = await installService({
    name: SERVICE_NAME,
    displayName: 'Platen print agent',
    description:
      'Takes label jobs from the queue of a Platen service, and drives the printers until they are out.',
    command: [process.execPath, ...FLAGS, process.argv[1] ?? '', 'service', 'run', home],
  });
  for (const directory of [data, logs]) await makePrivate(directory, SERVICE_NAME, WRITES);
  printLine(`${SERVICE_NAME} is ${made ? 'installed' : 'changed'}; its configuration is ${config}`);
  if (unknown.length > 0) process.stderr.write(`This Windows does not know: ${unknown.join(', ')}\n`);
  if (enroll) {
    const { name, origin } = await enrollAgent(enroll, data);
    printLine(`${name} is enrolled at ${origin}`);
  }
  if (!start) return;
  if (!knowsItsService(config, data)) {
    printLine(`Enrol it (platen agent enroll …), or set "redisUrl" in ${config}, then: platen service start`);
    return;
  }
  await startService(SERVICE_NAME);
  printLine(`${SERVICE_NAME} runs`);
}

/** Whether it has enrolled, or the configuration names a queue; true where it cannot be read, since the start reports that. */
function knowsItsService(config: string, data: string): boolean {
  if (existsSync(join(data, ENROLMENT))) return true;
  try {
    return 'redisUrl' in z.looseObject({}).parse(JSON.parse(readFileSync(config, 'utf8')));
  } catch {
    return true;
  }
}

async function status(json: boolean): Promise<void> {
  const found = await serviceStatus(SERVICE_NAME);
  const { config, data, logs } = windowsPlaces();
  if (json) printJson({ name: SERVICE_NAME, installed: found !== null, ...found, config, data, logs });
  else if (found !== null) {
    const ended = found.state === 'stopped' && found.exitCode !== 0 ? `, ended with ${found.exitCode}` : '';
    printLine(`${SERVICE_NAME}: ${found.state}${found.pid > 0 ? ` (process ${found.pid})` : ''}${ended}`);
    printLine(`configuration ${config}\ndata          ${data}\nlogs          ${logs}`);
  }
  if (found === null) throw new CommandFailure(`There is no service ${SERVICE_NAME}: platen service install`);
}
