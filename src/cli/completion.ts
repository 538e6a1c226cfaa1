/** `platen completion SHELL`: what the shell offers when Tab is pressed. Made from the commands as they are. */
import { Argument, Command } from 'commander';
import { printLine } from './output.ts';

/** A command, by the words that lead to it, and what may come after them. */
interface Place {
  path: readonly string[];
  words: readonly { word: string; says: string }[];
}

const SHELLS: Readonly<Record<string, (places: readonly Place[]) => string>> = { bash, zsh, fish };

/** @param root the whole command line, asked for when it is needed */
export function completionCommand(root: () => Promise<Command>): Command {
  return new Command('completion')
    .description('print what a shell needs to complete commands and options')
    .addArgument(new Argument('<shell>').choices(Object.keys(SHELLS)))
    .action(async (shell: string) => {
      const program = await root();
      printLine(SHELLS[shell]?.(placesOf(program, [])) ?? '');
    });
}

function placesOf(command: Command, path: readonly string[]): Place[] {
  const commands = command.commands.map((child) => ({ word: child.name(), says: child.description() }));
  const options = command.options.map(({ long, description }) => ({ word: long ?? '', says: description }));
  return [
    { path, words: [...commands, ...options, { word: '--help', says: 'show help' }] },
    ...command.commands.flatMap((child) => placesOf(child, [...path, child.name()])),
  ];
}

/** Code for bash and zsh that puts the words so far that are commands into `$at`. */
function walk(places: readonly Place[], words: string): string {
  const known = places.map(({ path }) => `'${path.map((word) => `/${word}`).join('')}'`).slice(1);
  return `  local at='' word
  for word in "\${${words}}"; do
    case "$at/$word" in
      ${known.join('|')}) at="$at/$word" ;;
    esac
  done`;
}

function cases(places: readonly Place[], line: (place: Place) => string): string {
  return places
    .map((place) => `    '${place.path.map((word) => `/${word}`).join('')}') ${line(place)} ;;`)
    .join('\n');
}

function bash(places: readonly Place[]): string {
  return `_platen() {
${walk(places, 'COMP_WORDS[@]:1:COMP_CWORD-1')}
  local offered=''
  case "$at" in
${cases(places, ({ words }) => `offered='${words.map(({ word }) => word).join(' ')}'`)}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$offered" -- "\${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _platen platen`;
}

function zsh(places: readonly Place[]): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const offer = ({ words }: Place) =>
    `offered=(${words.map(({ word, says }) => quoted(`${word}:${says.replaceAll(':', '\\:')}`)).join(' ')})`;
  return `#compdef platen
_platen() {
${walk(places, '(@)words[2,CURRENT-1]')}
  local -a offered
  case "$at" in
${cases(places, offer)}
  esac
  _describe -o platen offered || _files
}
_platen "$@"`;
}

function fish(places: readonly Place[]): string {
  const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines = places.flatMap(({ path, words }) =>
    words.map(({ word, says }) => {
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-f -a ${word}`;
      return `complete -c platen -n "__platen_at ${quoted(path.map((step) => `/${step}`).join(''))}" ${what} -d ${quoted(says)}`;
    }),
  );
  const known = places.slice(1).map(({ path }) => quoted(path.map((step) => `/${step}`).join('')));
  return `function __platen_at
  set -l at ''
  for word in (commandline -opc)[2..-1]
    contains -- "$at/$word" ${known.join(' ')}; and set at "$at/$word"
  end
  test "$at" = "$argv[1]"
end
${lines.join('\n')}`;
}
