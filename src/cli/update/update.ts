/** `platen update FILE|URL`: installs a version beside this one, and goes back if it does not come up. */
import { existsSync, readFileSync } from 'node:fs';
import { Command } from 'commander';
import { INSTALLED_FILES } from '../config-file.ts';
import { CommandFailure, EXIT } from '../failure.ts';
import { numberFrom } from '../option-values.ts';
import { printJson, printLine } from '../output.ts';
import { USUAL_DATA } from '../which-service.ts';
import { Home } from './home.ts';
import { publicKeyFrom } from './manifest.ts';
import { networkIsThere } from './network.ts';
import { update } from './steps.ts';
import { UpdateError } from './update-error.ts';

interface UpdateCommandOptions {
  key?: string;
  data: string;
  config?: string;
  allowOlder?: true;
  again?: true;
  patience: number;
  json?: true;
}

export function updateCommand(): Command {
  return new Command('update')
    .description('bring this machine to another version; one that does not come up goes back by itself')
    .argument('<manifest>', 'file or address of the .update.json beside the archive')
    .option('--key <file>', 'public key that has to have signed it (PEM); by default the one of this version')
    .option('--data <dir>', 'where the agent has its journal', USUAL_DATA)
    .option('--config <file>', 'what the new version has to understand; by default the one that is installed')
    .option('--allow-older', 'also to a version that is older than this one')
    .option('--again', 'also to a version that did not come up before')
    .option('--patience <seconds>', 'how long the new version has to come up', numberFrom(5, 3_600), 180)
    .option('--json', 'print JSON')
    .action(async (source: string, options: UpdateCommandOptions) => {
      if (process.platform === 'win32') {
        throw new CommandFailure(
          'On Windows, install the new package: it takes the place of this one.',
          EXIT.usage,
        );
      }
      try {
        const home = Home.around(process.execPath);
        const pem = options.key === undefined ? home.key : readFileSync(options.key, 'utf8');
        if (pem === null) {
          throw new UpdateError(
            'no-key',
            'this version was packed without a key: give the public key with --key',
          );
        }
        const config = options.config ?? INSTALLED_FILES.find((path) => existsSync(path)) ?? null;
        // Closing the terminal must not stop an update half-way.
        process.on('SIGHUP', () => {});
        const done = await update({
          home,
          source,
          key: publicKeyFrom(pem),
          dataDir: options.data,
          config,
          allowOlder: options.allowOlder === true,
          again: options.again === true,
          patienceMs: options.patience * 1_000,
          networkIsThere: (env) => networkIsThere(config, env, options.data),
          onStep: (_step, says) => void process.stderr.write(`platen: ${says}\n`),
        });
        if (options.json) printJson(done);
        else
          printLine(
            done.result === 'unchanged' ? `${done.to} is installed already` : `${done.from} → ${done.to}`,
          );
      } catch (error) {
        if (!(error instanceof UpdateError)) throw error;
        throw new CommandFailure(
          `${error.message} [${error.code}]`,
          error.code === 'not-here' ? EXIT.usage : EXIT.failed,
        );
      }
    });
}
