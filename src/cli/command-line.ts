/** Runs one command: output to stdout, the reason of a failure to stderr, the result as the exit code. */
import { Command, CommanderError } from 'commander';
import metadata from '../../package.json' with { type: 'json' };
import { DESCRIPTIONS } from './command-descriptions.ts';
import { completionCommand } from './completion.ts';
import { done } from './ending.ts';
import { CommandFailure, EXIT } from './failure.ts';

/** Every command by its name. Its code is loaded only when called, so that short commands start fast. */
export type Commands = Readonly<Record<string, () => Promise<Command>>>;

export async function runCommandLine(commands: Commands): Promise<void> {
  process.stdout.on('error', unsaid);
  process.stderr.on('error', () => {});
  try {
    await (await program(commands)).parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
    } else {
      const [{ explain }, { forTerminal }] = await Promise.all([
        import('./explain.ts'),
        import('./output.ts'),
      ]);
      process.stderr.write(`platen: ${forTerminal(explain(error))}\n`);
      process.exitCode = error instanceof CommandFailure ? error.exitCode : EXIT.failed;
    }
  }
  done();
}

/**
 * A closed stdout (`| head`) must not end the process: short commands end by themselves, and `up` goes on. What
 * could not be written otherwise, as on a full disk, is a failure that the exit code must tell.
 */
function unsaid(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') return;
  process.stderr.write(`platen: what it says could not be written: ${error.message}\n`);
  process.once('exit', () => {
    process.exitCode ||= EXIT.failed;
  });
}

/** The named command with its code; all commands by name alone where help or an error lists them. */
async function program(commands: Commands): Promise<Command> {
  const program = new Command('platen')
    .description('A label print service, and the print agent that runs next to the printers.')
    // Options behind a command's name are the command's, even where this level has one of the same name.
    .enablePositionalOptions()
    .showHelpAfterError('(add --help for help)')
    .addHelpText('after', '\nExit codes: 0 done, 1 refused or failed, 2 wrong usage.');
  const [, , first = '', second = ''] = process.argv;
  const name = first === 'help' ? second : first;
  const named = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (named !== undefined) program.addCommand(await named());
  else for (const command of await all(commands, name === 'completion')) program.addCommand(command);
  if (named === undefined) program.addCommand(completionCommand(async () => program));
  withVersion(program);
  throwInsteadOfExit(program);
  return program;
}

/** @param whole load the commands' code too; otherwise they have a name and a description alone */
async function all(commands: Commands, whole: boolean): Promise<Command[]> {
  return await Promise.all(
    Object.entries(commands).map(async ([name, load]) => {
      const description = DESCRIPTIONS[name];
      return whole || description === undefined ? await load() : new Command(name).description(description);
    }),
  );
}

/** Gives every command the option `--version`. */
function withVersion(command: Command): void {
  command.version(metadata.version);
  for (const child of command.commands) withVersion(child);
}

/** Commander ends the process itself unless every command is told not to. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride();
  for (const child of command.commands) throwInsteadOfExit(child);
}
