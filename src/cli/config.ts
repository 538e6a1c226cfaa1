import { existsSync } from 'node:fs';
import { Argument, Command, Option } from 'commander';
import {
  CONFIG_FILES,
  type ConfigKind,
  INSTALLED_FILES,
  jsonSchemaOf,
  kindOf,
  readConfigFile,
} from './config-file.ts';
import { CommandFailure, EXIT } from './failure.ts';
import { printJson, printLine } from './output.ts';
import { withoutSecrets } from './redaction.ts';

interface FileOptions {
  kind?: ConfigKind;
}

const file = () =>
  new Argument('[file]', `by default the one that is installed: ${INSTALLED_FILES.join(' or ')}`);
const kind = () =>
  new Option(
    '--kind <kind>',
    'of an agent alone, or of the service; by default as the file is called',
  ).choices(Object.keys(CONFIG_FILES));

/** `platen config` */
export function configCommand(): Command {
  const config = new Command('config').description('the configuration files agent.json and platen.json');
  const ofFile = (name: string, description: string, words: (path: string, read: object) => string) =>
    config
      .command(name)
      .description(description)
      .addArgument(file())
      .addOption(kind())
      .action(async (given: string | undefined, options: FileOptions) => {
        const path = fileOf(given);
        printLine(words(path, await readConfigFile(path, CONFIG_FILES[options.kind ?? kindOf(path)])));
      });
  ofFile('check', 'say what is wrong with a file', (path) => `${path} is in order`);
  ofFile('show', 'print a file with the defaults of what it leaves out, and without secrets', (_, read) =>
    JSON.stringify(read, withoutSecrets, 2),
  );
  config
    .command('schema')
    .description('print the JSON Schema of a file')
    .addArgument(new Argument('<kind>').choices(Object.keys(CONFIG_FILES)))
    .action((of: ConfigKind) => printJson(jsonSchemaOf(CONFIG_FILES[of])));
  return config;
}

function fileOf(given: string | undefined): string {
  const path = given ?? INSTALLED_FILES.find((installed) => existsSync(installed));
  if (path === undefined)
    throw new CommandFailure(`There is none at ${INSTALLED_FILES.join(' or ')}: name the file.`, EXIT.usage);
  return path;
}
