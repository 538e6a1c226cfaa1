/**
 * Programs in EPL2.
 *
 * Source: EPL Programming Guide 14245L (and EPL2 Programmer's Manual 980009-001), the commands named. `R` overrides the width
 * that `q` has set, and `q` the margin that `R` has set, so what lasts is sent in its order.
 */
import { because } from '../contract/reason.ts';
import {
  all,
  besideTexts,
  commandsIn,
  firstQuoted,
  firstWord,
  isPlain,
  type LineCommand,
  type LineLanguage,
  lineFault,
  quantityIn,
  type Ruling,
} from './line-program.ts';

const HEADS = {
  GW: /^GW\d{1,5},\d{1,5},(?<stride>\d{1,5}),(?<height>\d{1,5})(?:,|\r?\n)/,
  GM: /^GM"[^"\r\n]{1,40}"(?<size>\d{1,8})[ \t]*\r?\n/,
};
/** Characters of the longest head before data. */
const HEAD = 80;

/** By the letters with which a line begins. */
const RULINGS: Readonly<Record<string, Ruling>> = {
  ...all('A B b GG GW LE LO LS LW X', 'draws'),
  N: 'clears',
  // Width, reference point, direction, character set, distance of Asian characters.
  ...all('q R ZT ZB I i', 'lasts'),
  // Darkness, speed, length and gap, hardware options, back-up, double buffer, cut position, Windows mode, errors not reported.
  ...all('D S Q O JB JC JF rN rY f fB WN WY UN', 'sets'),
  // For printers in line mode, which these are not.
  EPL: 'void',
  ...all('M', { does: 'does-memory' }),
  ...all('Y', { does: 'does-ports' }),
  ...all('ES', { does: 'does-fonts' }),
  ...all('EK FK', { does: 'does-delete' }),
  ...all('FS FE', { does: 'does-store' }),
  ...all('TS TD TT', { does: 'does-clock' }),
  ...all('oB oE oH oM oR oW o eR UA UB', { does: 'does-configuration' }),
  ...all('xa', { does: 'does-sensors' }),
  OEPL: { does: 'does-language' },
};
const OPTIONS = /^O(?:[CDFLNPS]\d{0,3},?)*$/;

export const EPL: LineLanguage = {
  commands: (source) =>
    commandsIn(source, HEADS, HEAD, ({ said, text }) => {
      const [word = ''] = /^[A-Za-z]+/.exec(said.trimStart()) ?? [];
      // A printer would wait for data that nobody has counted.
      return { name: /^G[WM]$/.test(word) ? '' : word, said: said.trim(), text };
    }),
  ruling: (command) => {
    const { said, line } = command;
    if (said === '') return 'draws';
    if (said.startsWith(';')) return 'void';
    const name = nameIn(command);
    if (name === 'GM') return storing(command);
    const fixed = fixedRuling(said);
    if (fixed !== undefined) return fixed;
    const prints = quantityIn(/^P(?:(\d{1,5})(?:,(\d{1,5}))?)?$/.exec(said));
    if (prints !== undefined) return { prints };
    const ruling = Object.hasOwn(RULINGS, name) ? RULINGS[name] : undefined;
    const plain = typeof ruling !== 'string' || ruling === 'draws' || isPlain(said);
    if (ruling === undefined || !plain || (ruling === 'clears' && said !== name))
      throw lineFault(line, unknown(said));
    if (ruling === 'draws' && name !== 'GW') besideTexts(command, '\\', 2);
    return ruling;
  },
  key: (command) => nameIn(command).replace(/^(?:Z|J|r|W)[A-Z]$/, (name) => name.charAt(0)),
  reference: ({ name, text }) => (name === 'GG' ? firstQuoted(text) : undefined),
  stored: (name) => name.trim(),
  print: (copies) => `P${copies}\r\n`,
};

/** Deletes an object that a job has stored; the guide says it twice. */
export function eplDeletion(name: string): string {
  return `GK"${name}"\r\n`.repeat(2);
}

/** Letters may be parameters: ODP. */
function nameIn({ name, said }: LineCommand): string {
  return name !== 'OEPL' && OPTIONS.test(said) ? 'O' : name;
}

function storing({ said, text }: LineCommand): Ruling {
  const [, stores = ''] = /^GM"([^"]*)"/.exec(said) ?? [];
  return { stores, as: (own) => `${eplDeletion(own)}GM"${own}"${text.slice(stores.length + 4)}` };
}

/** What no tenant may send, or only for what is its own. */
function fixedRuling(said: string): Ruling | undefined {
  const [, deletes] = /^GK"([^"]+)"$/.exec(said) ?? [];
  if (deletes !== undefined) return { deletes };
  const [command = ''] = /^(?:\^\S{0,10}|[A-Za-z?]{1,6})/.exec(said) ?? [];
  // ^@ resets the printer, ^ee asks it, wherever a line begins.
  if (said.startsWith('^')) return { never: because('program-at-once', { command }) };
  if (/^C\d/.test(said)) return { never: because('zpl-counts', { command: 'C' }) };
  if (/^(?:FR|PA|V\d|\?)/.test(said)) return { never: because('program-recalls', { command }) };
  if (/^(?:U|EI|FI|GI)$/.test(command)) return { never: because('program-other-label', { command }) };
  if (/^U[EFGIMPQS]/.test(said)) return { never: because('zpl-answers', { command }) };
  if (/^dump/i.test(said)) return { never: because('program-other-label', { command }) };
  return undefined;
}

function unknown(said: string): ReturnType<typeof because> {
  return because('program-unknown', { command: firstWord(said), language: 'EPL2' });
}
