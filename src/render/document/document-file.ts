/** Finds what kind of document a record brings: the record says so, or the first bytes show it. No more bytes are looked at. */
import { documentIn, documentPart, documentSaid } from '../../contract/document-pages.ts';
import type { LanguageId } from '../../contract/format.ts';
import type { LabelRecord } from '../../contract/print-request.ts';
import { because } from '../../contract/reason.ts';
import type { Template } from '../../contract/template.ts';
import { PictureFault } from '../image/picture-fault.ts';
import { LastDocument } from './last-document.ts';

/** Some programs write up to a kilobyte before a PDF begins. */
const HEAD = 1_024;

/** Languages whose documents go to a printer as they were sent. */
const PROGRAMS = ['zpl', 'epl', 'tspl'] as const;
export type ProgramKind = (typeof PROGRAMS)[number];
/** `picture`: PNG or JPEG, or nothing that is known. */
export type FileKind = ProgramKind | 'pdf' | 'raster' | 'picture';

/** How label designers, drivers and carriers begin ZPL. DLE and the byte order mark of UTF-8 may stand before it. */
const ZPL = /^(?:\xef\xbb\xbf)?\x10?\s*(?:CT~|[\^~][A-Za-z]{2}|\^A[\d@])/;
/** How an EPL2 program begins: with a line that sets something, or that clears the picture. */
const EPL =
  /^(?:\xef\xbb\xbf)?\s*(?:;|(?:N|EPL2?|O[CDFLNPS\d,]*|q\d+|Q\d+(?:,B?\d+)*|R\d+,\d+|I8,\w+(?:,\w+)?|S\d|D\d{1,2}|Z[TB]|J[BCF]|r[NY]|f\d+|W[NY]|UN|G[KM]"[^"]*"\d*)[ \t]*(?:\r?\n|$))/;
/** How a TSPL2 program begins, behind the marks that BarTender writes before it. */
const TSPL =
  /^(?:\xef\xbb\xbf)?\s*(?:CLS[ \t]*(?:\r?\n|$)|(?:SIZE|GAP|BLINE|DIRECTION|REFERENCE|OFFSET|SHIFT|SPEED|DENSITY|CODEPAGE|COUNTRY|SET|DOWNLOAD)[ \t]+["\w@])/i;

const MARKS_END = '</xpml>';

export function isPdf(base64: string): boolean {
  return headOf(base64).includes('%PDF-');
}

const RASTER = Buffer.from('RaS2PwgRaster\0', 'latin1');

/** Whether it is PWG Raster. */
function isRaster(base64: string): boolean {
  return headOf(base64).subarray(0, RASTER.length).equals(RASTER);
}

/** The language of a program, as its first bytes show; undefined: it is no program. */
export function programKind(base64: string): ProgramKind | undefined {
  const head = headOf(base64).toString('latin1');
  if (ZPL.test(head)) return 'zpl';
  const marks = head.startsWith('<xpml>') ? head.indexOf(MARKS_END) : -1;
  if (TSPL.test(marks < 0 ? head : head.slice(marks + MARKS_END.length))) return 'tspl';
  return EPL.test(head) ? 'epl' : undefined;
}

function headOf(base64: string): Buffer {
  return Buffer.from(base64.slice(0, Math.ceil(HEAD / 3) * 4), 'base64');
}

/** The words by which a record may say what its document is. */
const SAID: Readonly<Record<string, FileKind>> = {
  pdf: 'pdf',
  png: 'picture',
  jpeg: 'picture',
  'pwg-raster': 'raster',
  zpl: 'zpl',
  epl: 'epl',
  tspl: 'tspl',
};

/**
 * @param said what the record says that the document is; undefined or empty: its bytes decide
 * @throws PictureFault: `said` is no word for a document, or the bytes are something else
 */
export function fileKind(base64: string, said: string | undefined): FileKind {
  const told = isPdf(base64) ? 'pdf' : isRaster(base64) ? 'raster' : (programKind(base64) ?? 'picture');
  if (said === undefined || said === '') return told;
  const kind = Object.hasOwn(SAID, said) ? SAID[said] : undefined;
  if (kind === undefined)
    throw new PictureFault(because('document-said', { kinds: Object.keys(SAID).join(', ') }));
  // Programs are text, and no text says for sure which language it is in. So the record is believed.
  const isText = isProgram(kind) && (isProgram(told) || told === 'picture');
  if (kind !== told && !isText) throw new PictureFault(because('document-not-said', { said }));
  return kind;
}

/** Whether the job's printer may get commands that somebody other than Platen has written. */
export function bringsProgram(template: Template, records: readonly LabelRecord[]): boolean {
  if (template.language !== 'document') return template.language === 'zpl';
  return records.some((record) => {
    const { base64 } = documentPart(documentIn(record, template));
    try {
      return isProgram(fileKind(base64, documentSaid(record, template)));
    } catch (error) {
      if (error instanceof PictureFault) return false;
      throw error;
    }
  });
}

export function isProgram(kind: FileKind): kind is ProgramKind {
  return PROGRAMS.some((one) => one === kind);
}

/** The languages' names for people. */
export const DOCUMENT_NAMES: Readonly<Record<ProgramKind, string>> = {
  zpl: 'ZPL',
  epl: 'EPL2',
  tspl: 'TSPL2',
};

/** The kinds of documents that a printer of the language prints, by their names for people. */
export function documentsFor(language: LanguageId | undefined): string {
  const own = PROGRAMS.find((one) => one === language && one !== 'zpl');
  const all = [
    'PDF',
    'PNG',
    'JPEG',
    'PWG raster',
    'ZPL',
    ...(own === undefined ? [] : [DOCUMENT_NAMES[own]]),
  ];
  return all.join(', ');
}

const right = new LastDocument<void>();

/** Node would skip what is no base64. A file is checked once, not again for each of its pages. @throws PictureFault */
export function requireBase64(text: string): void {
  right.of(text, '', checkBase64);
}

function checkBase64(text: string): void {
  if (text === '') throw new PictureFault(because('document-none', {}));
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text))
    throw new PictureFault(because('document-base64', {}));
}
