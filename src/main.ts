#!/usr/bin/env node
/** The command line: `platen <command>`, one file per command in `cli/`. */
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { agentCommand } from './cli/agent.ts';
import { agentsCommand } from './cli/agents.ts';
import { demoCommand } from './cli/demo.ts';
import { discoverCommand } from './cli/discover.ts';
import { doctorCommand } from './cli/doctor.ts';
import { done } from './cli/ending.ts';
import { CommandFailure, EXIT, explain } from './cli/failure.ts';
import { integrationCommand } from './cli/integration.ts';
import { jobCommand, jobsCommand } from './cli/jobs.ts';
import { printCommand, validateCommand } from './cli/print.ts';
import { printersCommand } from './cli/printers.ts';
import { renderCommand } from './cli/render.ts';
import { serverCommand } from './cli/server.ts';
import { templateCommand } from './cli/template.ts';
import { tenantCommand } from './cli/tenant.ts';
import { upCommand } from './cli/up.ts';
import { virtualCommand } from './cli/virtual.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

const program = new Command('platen')
  .description('A label print service, and the print agent that runs next to the printers.')
  .version(version)
  .showHelpAfterError('(add --help for help)')
  .addHelpText('after', '\nExit codes: 0 done, 1 refused or failed, 2 wrong usage.');

for (const command of [
  upCommand(),
  serverCommand(),
  agentCommand(),
  demoCommand(),
  tenantCommand(),
  integrationCommand(),
  templateCommand(),
  printCommand(),
  validateCommand(),
  jobsCommand(),
  jobCommand(),
  printersCommand(),
  agentsCommand(),
  renderCommand(),
  discoverCommand(),
  virtualCommand(),
  doctorCommand(),
]) {
  program.addCommand(command);
}

/** Commander ends the process itself unless every command is told not to. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride();
  for (const child of command.commands) throwInsteadOfExit(child);
}
throwInsteadOfExit(program);

// A reader that has gone (`| head`) ends nothing: short commands end by themselves, and `up` goes on.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
  } else {
    process.stderr.write(`platen: ${explain(error)}\n`);
    process.exitCode = error instanceof CommandFailure ? error.exitCode : EXIT.failed;
  }
}
done();
