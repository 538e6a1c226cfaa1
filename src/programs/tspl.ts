/**
 * Programs in TSPL and TSPL2.
 *
 * Source: TSPL/TSPL2 Programming Language (TSC), the commands named. A printer carries out `<ESC>!` wherever it arrives, also
 * in data. Its BASIC is not taken: what a loop prints nobody could count, and what an expression reads may be the next job.
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
import { ProgramFault } from './program.ts';

const IMMEDIATE = '\x1b!';
const STORED = /^DOWNLOAD +(?:([A-Z]), ?)?"([^"\r\n]+)", ?(?<size>\d+),/i;
const HEADS = {
  BITMAP: /^BITMAP +-?\d{1,5}, ?-?\d{1,5}, ?(?<stride>\d{1,5}), ?(?<height>\d{1,5}), ?[012],/i,
  DOWNLOAD: STORED,
};
/** Characters of the longest head before data. */
const HEAD = 120;

/** By the word with which a line begins, of SET by two. */
const RULINGS: Readonly<Record<string, Ruling>> = {
  ...all(
    `BAR BARCODE BITMAP BLOCK BOX CIRCLE CODABLOCK DIAGONAL DMATRIX ELLIPSE ERASE AZTEC MAXICODE MPDF417 PDF417 PUTBMP PUTPCX
     QRCODE REVERSE RSS TEXT TLC39`,
    'draws',
  ),
  CLS: 'clears',
  ...all('SIZE DIRECTION REFERENCE CODEPAGE COUNTRY', 'lasts'),
  ...all('GAP BLINE OFFSET SPEED DENSITY SHIFT LIMITFEED SETC', 'sets'),
  ...all(
    `SET_BACK SET_BLINE SET_CUTTER SET_GAP SET_HEAD SET_PARTIAL_CUTTER SET_PEEL SET_REWIND SET_RIBBON SET_STRIPER SET_TEAR`,
    'sets',
  ),
  ...all('CUT DELAY SOUND', 'acts'),
  ...all('END EOJ EOP REM', 'void'),
  ...all('BACKFEED BACKUP FEED FORMFEED HOME', { does: 'does-feed' }),
  ...all('AUTODETECT BLINEDETECT GAPDETECT', { does: 'does-sensors' }),
  ...all('INITIALPRINTER', { does: 'does-configuration' }),
  ...all('COPY MOVE', { does: 'does-copy' }),
  ...all('SET_COM1', { does: 'does-ports' }),
  ...all('SET_KEY1 SET_KEY2 SET_KEY3 SET_LED1 SET_LED2 SET_LED3 SET_PRINTKEY SET_REPRINT', {
    does: 'does-panel',
  }),
  ...all('WLAN NET BT', { does: 'does-network' }),
};
/** The content of a symbol may be counted instead (`Lm`, and the tenth parameter of AZTEC): it has no end that can be seen. */
const COUNTED = /,L[^,]|^AZTEC(?:[^,]*,){10}/i;
/** What BarTender writes around commands. */
const MARK_END = '</xpml>';

export const TSPL: LineLanguage = {
  *commands(source) {
    const at = source.indexOf(IMMEDIATE);
    if (at >= 0)
      throw new ProgramFault(because('program-at-once', { command: `<ESC>!${source.charAt(at + 2)}` }));
    yield* commandsIn(source, HEADS, HEAD, ({ said: whole, text }) => {
      const marks = whole.startsWith('<xpml>') ? whole.lastIndexOf(MARK_END) : -1;
      const from = marks < 0 ? 0 : marks + MARK_END.length;
      const said = whole.slice(from).trim();
      const name = nameIn(said);
      // A printer would wait for data that nobody has counted.
      const waits = name === 'BITMAP' || STORED.test(said);
      return { name: waits ? '' : name, said, text: text.slice(from) };
    });
  },
  ruling: (command) => {
    const { name, said, line } = command;
    if (said === '') return 'draws';
    if (name === 'DOWNLOAD') return storing(command);
    const fixed = fixedRuling(command);
    if (fixed !== undefined) return fixed;
    const prints = quantityIn(/^PRINT[ \t]+(\d{1,5})(?:[ \t]*,[ \t]*(\d{1,5}))?$/i.exec(said));
    if (prints !== undefined) return { prints };
    const ruling = Object.hasOwn(RULINGS, name) ? RULINGS[name] : undefined;
    const free = typeof ruling !== 'string' || ruling === 'draws' || name === 'REM';
    const wrong = (!free && !isPlain(said)) || (ruling === 'clears' && said.length > name.length);
    if (ruling === undefined || wrong) throw lineFault(line, unknown(said));
    if (ruling === 'draws' && name !== 'BITMAP') requireEnd(command);
    return ruling;
  },
  key: ({ name }) => (name === 'BLINE' ? 'GAP' : name),
  reference: ({ name, text }) =>
    /^(?:PUTBMP|PUTPCX|TEXT|BLOCK)$/.test(name) ? firstQuoted(text) : undefined,
  stored: (name) => name.trim().toUpperCase(),
  print: (copies) => `PRINT 1,${copies}\r\n`,
};

/** Deletes an object that a job has stored. */
export function tsplDeletion(name: string): string {
  return `KILL "${name}"\r\n`;
}

function nameIn(said: string): string {
  const [, word = '', second = ''] = /^([A-Za-z]\w*)(?:[ \t]+([A-Za-z]\w*))?/.exec(said) ?? [];
  const name = word.toUpperCase();
  return name === 'SET' ? `SET_${second.toUpperCase()}` : name;
}

const OBJECTS = /\.(?:BMP|PCX|TTF)$/i;

function storing({ said, text }: LineCommand): Ruling {
  const [, memory, stores = ''] = STORED.exec(said) ?? [];
  if (!OBJECTS.test(stores)) return { never: because('program-object', { object: firstWord(stores) }) };
  if (memory !== undefined) return { does: 'does-store' };
  const from = said.indexOf('"') + 1 + stores.length;
  return { stores, as: (own) => `DOWNLOAD "${own}${text.slice(from)}\r\n` };
}

/** What no tenant may send, or only for what is its own. */
function fixedRuling({ name, said }: LineCommand): Ruling | undefined {
  const [, deletes] = /^KILL[ \t]+(?:[A-Z][ \t]*,[ \t]*)?"([^"]+)"$/i.exec(said) ?? [];
  if (deletes !== undefined) return { deletes };
  const command = name.replace('_', ' ');
  if (said.startsWith('~')) return { never: because('zpl-answers', { command: said.slice(0, 3) }) };
  if (said.startsWith('@') || name === 'SET_COUNTER')
    return { never: because('zpl-counts', { command: 'SET COUNTER' }) };
  if (/^(?:SELFTEST|FILES)$/.test(name)) return { never: because('program-other-label', { command }) };
  if (/^(?:SET_RESPONSE|OUT|OUTR)$/.test(name)) return { never: because('zpl-answers', { command }) };
  return undefined;
}

/** A printer leaves blanks out. @throws ProgramFault */
function requireEnd(command: LineCommand): void {
  const beside = besideTexts(command, '\\["]', 4).replaceAll(/[ \t]/g, '');
  if (COUNTED.test(beside)) throw lineFault(command.line, because('program-counted', {}));
}

function unknown(said: string): ReturnType<typeof because> {
  return because('program-unknown', { command: firstWord(said), language: 'TSPL2' });
}
