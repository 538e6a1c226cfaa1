/** Documents that are programs in a printers' language. They are read once, and sent to such printers label by label. */
import { JobFaultError } from '../../contract/fault.ts';
import { because } from '../../contract/reason.ts';
import { EPL } from '../../programs/epl.ts';
import { readLineProgram } from '../../programs/line-program.ts';
import { type LabelProgram, ProgramFault, type ProgramRules } from '../../programs/program.ts';
import { TSPL } from '../../programs/tspl.ts';
import { readZplDocument } from '../../zpl/raw/document.ts';
import { PictureFault } from '../image/picture-fault.ts';
import type { ProgramKind } from './document-file.ts';
import { LastDocument } from './last-document.ts';

const READERS: Readonly<Record<ProgramKind, (bytes: Buffer, rules: ProgramRules) => LabelProgram>> = {
  zpl: readZplDocument,
  epl: (bytes, rules) => readLineProgram(bytes.toString('latin1'), EPL, rules),
  tspl: (bytes, rules) => readLineProgram(bytes.toString('latin1'), TSPL, rules),
};

const last = new LastDocument<LabelProgram>();

/** @throws PictureFault for what the rules refuse */
export function programOf(
  base64: string,
  kind: ProgramKind,
  { jobId = '', printerCommands = false }: Partial<ProgramRules>,
): LabelProgram {
  return last.of(base64, `${kind} ${jobId} ${printerCommands}`, (text) =>
    saidOf(() => READERS[kind](Buffer.from(text, 'base64'), { jobId, printerCommands })),
  );
}

/** A label of a program, and what goes before it. */
export interface ProgramPart {
  /** Empty if another label of the program was sent before. */
  readonly downloads: string;
  readonly setUp: string;
  readonly state: string;
  /** As in `ProgramLabel`. */
  readonly lasts: readonly string[];
  readonly label: string;
  /** The names of what the program stores in the printer until the job is done. */
  readonly objects: readonly string[];
}

/**
 * @param first whether no other label of the program was sent before
 * @throws PictureFault
 */
export function programPart(
  { labels, downloads, objects }: LabelProgram,
  { page, copies, first }: { page: number; copies: number; first: boolean },
): ProgramPart {
  const label = labels[page - 1];
  if (label === undefined)
    throw new PictureFault(because('document-no-page', { page, pages: labels.length }));
  const { state, lasts } = label;
  const setUp = labels
    .slice(first ? 0 : page - 1, page)
    .map((one) => one.setUp)
    .join('');
  const text = saidOf(() => label.text(copies));
  return { downloads: first ? downloads : '', setUp, state, lasts, label: text, objects };
}

function saidOf<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof ProgramFault) throw new PictureFault(error.reason);
    if (error instanceof JobFaultError && error.fault.reason !== undefined)
      throw new PictureFault(error.fault.reason);
    throw error;
  }
}
