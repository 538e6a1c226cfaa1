import { Command } from 'commander';
import { createLogger } from '../../log.ts';
import { connect } from '../admin-client.ts';
import { explain } from '../explain.ts';
import { EXIT } from '../failure.ts';
import { positiveNumber } from '../option-values.ts';
import { forTerminal, printLine } from '../output.ts';
import { TEMPLATE, withRoute } from '../print.ts';
import { untilToldToStop } from '../stop-signal.ts';
import { ProgramGone } from './records.ts';
import { type FolderListener, type WatchedOptions, watch } from './watching.ts';

interface WatchOptions extends WatchedOptions {
  wait?: true;
  json?: true;
}

/** `platen watch`: prints what is put into a folder. */
export function watchCommand(): Command {
  return withRoute(new Command('watch'))
    .description('print the CSV, Excel, JSON and document files that are put into a folder')
    .argument('<dir>', 'the folder; "printing", "done" and "failed" are made in it')
    .requiredOption('--template <template>', TEMPLATE)
    .option('--settle <seconds>', 'how long a file must not have changed', positiveNumber, 2)
    .option(
      '--wait',
      'a file is done when its labels are out, not when its job is accepted; the next one waits',
    )
    .option('--json', 'print JSON lines')
    .addHelpText(
      'after',
      '\nA service, or an agent, watches folders by itself: "folders" in its configuration file.',
    )
    .action(async (directory: string, options: WatchOptions) => {
      const signal = untilToldToStop(createLogger());
      const listener = options.json ? inJson() : inWords(directory);
      try {
        await watch({ directory, options, connect: () => connect(options), listener, signal });
      } catch (error) {
        // Whoever started this process starts the new program, which goes on with what was taken. This one can no longer
        // load what puts a failure into words.
        if (!(error instanceof ProgramGone)) throw error;
        process.stderr.write(`platen: ${error.message}\n`);
        process.exitCode = EXIT.failed;
      }
    });
}

function inWords(directory: string): FolderListener {
  return {
    watching: () => printLine(`watching ${directory}`),
    moved(_name, { file, job, code }) {
      printLine(
        `${oneLine(file)}${job === undefined ? '' : `  job ${job}`}${code === undefined ? '' : `  ${code}`}`,
      );
    },
    later,
  };
}

function inJson(): FolderListener {
  return {
    watching: () => undefined,
    moved(name, { file, job, code }) {
      process.stdout.write(`${JSON.stringify({ name, file, job: job ?? null, code: code ?? null })}\n`);
    },
    later,
  };
}

function later(name: string, error: unknown): void {
  const about = name === '' ? '' : `${oneLine(name)}: `;
  process.stderr.write(`${forTerminal(`${about}${explain(error)}`)}\nIt is tried again.\n`);
}

/** A stranger's name must not make a line of its own. */
function oneLine(name: string): string {
  return name.replaceAll('\n', '\\n');
}
