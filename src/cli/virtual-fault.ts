/** `platen virtual fault` and `platen virtual status`: what is wrong with virtual printers that run. */
import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { Command } from 'commander';
import { controlAnswer, controlPath } from '../virtual/machine/control.ts';
import { FAULT_WORDS, FaultWordError, faultsOf } from '../virtual/machine/faults.ts';
import { nearest } from '../words/nearest.ts';
import { CommandFailure, EXIT } from './failure.ts';
import { printJson, printLine, table } from './output.ts';
import { USUAL_DATA } from './which-service.ts';

interface WhereOptions {
  data?: string;
  out?: string;
  json?: true;
}

const TIMEOUT_MS = 15_000;

/** The faults that words of a command line ask for. @throws CommandFailure for a word that is no fault */
export function askedFaults(words: readonly string[]) {
  try {
    return faultsOf(words);
  } catch (error) {
    if (error instanceof FaultWordError) throw new CommandFailure(error.message, EXIT.usage);
    throw error;
  }
}

export function virtualFaultCommand(): Command {
  return where(new Command('fault'))
    .description('make or clear faults of a virtual printer that runs')
    .argument('<printer>', 'its name, as in "platen virtual status"')
    .argument('<fault...>', FAULT_WORDS.join(', '))
    .addHelpText(
      'after',
      `
  media-empty, marker-supply-empty, cover-open, paused
              labels wait until it is cleared; the one under the head starts again
  power-off   loses connections, what it has taken, and stored formats; clear switches it on again
  silent      answers nothing, and prints all the same
  slow=MS     every label takes so many milliseconds longer
  clear       all of them; clear=media-empty: that one

Words count from left to right: "clear cover-open" leaves the open cover alone. Faults end with the process.`,
    )
    .action(async (name: string, words: string[], options: WhereOptions) => {
      askedFaults(words);
      const found = await running(options);
      const printer = found.find((each) => each.name === name);
      if (!printer) {
        const names = found.map((each) => each.name);
        const meant = nearest(name, names);
        throw new CommandFailure(
          `No virtual printer is called ${JSON.stringify(name)}; ` +
            (meant === undefined ? `there are ${names.join(', ')}.` : `did you mean ${meant}?`),
        );
      }
      const query = new URLSearchParams([
        ['printer', name],
        ...words.map((word): [string, string] => ['fault', word]),
      ]);
      const [now] = await told(printer.directory, 'POST', `/?${query}`);
      if (options.json) printJson(now);
      else printLine(`${name}: ${now?.faults.join(', ') || 'no fault'}`);
    });
}

export function virtualStatusCommand(): Command {
  return where(new Command('status'))
    .description('the virtual printers that run, and their faults')
    .action(async (options: WhereOptions) => {
      const found = await running(options);
      if (options.json) return printJson(found.map(({ directory: _, ...printer }) => printer));
      const rows = found.map(({ name, faults, waiting, printed, uri }) => [
        name,
        faults.join(', ') || 'none',
        String(waiting),
        String(printed),
        uri,
      ]);
      printLine(table(['NAME', 'FAULTS', 'WAITING', 'PRINTED', 'ADDRESS'], rows));
    });
}

function where(command: Command): Command {
  return command
    .option(
      '--data <dir>',
      'data directory of a running "platen up"; by default where commands look for the service',
    )
    .option('--out <dir>', 'directory of a running "platen virtual"; by default ./labels')
    .option('--json', 'print JSON');
}

/** The virtual printers of the directories that are named; without any, of the usual ones. */
async function running({ data, out }: WhereOptions) {
  const named = [data, out].filter((directory) => directory !== undefined);
  const directories = named.length > 0 ? named : [USUAL_DATA, 'labels'];
  const found = await Promise.all(
    directories.map(async (directory) => {
      const printers = await told(directory, 'GET', '/').catch((error: unknown) => {
        if (isAbsent(error)) return [];
        throw error;
      });
      return printers.map((printer) => ({ ...printer, directory }));
    }),
  );
  if (found.flat().length > 0) return found.flat();
  throw new CommandFailure(
    `No virtual printer runs in ${directories.join(' or ')}. ` +
      'Name the directory of "platen up" with --data, that of "platen virtual" with --out.',
  );
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && ['ENOENT', 'ECONNREFUSED'].includes(String(error.code));
}

async function told(directory: string, method: 'GET' | 'POST', path: string) {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const asking = request({ socketPath: controlPath(directory), method, path, signal }).end();
  const [response] = await once(asking, 'response');
  const answer = controlAnswer.parse(JSON.parse(await text(response)));
  if ('error' in answer) throw new CommandFailure(answer.error);
  return answer.printers;
}
