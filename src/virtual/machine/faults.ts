/** The faults of a virtual printer, and the words by which a person or a test sets them. */
import { nearest } from '../../words/nearest.ts';

/** What keeps labels from coming out, in the words of printer-state-reasons (RFC 8011 §5.4.12). */
export const STOPPAGES = ['media-empty', 'marker-supply-empty', 'cover-open', 'paused'] as const;
export type Stoppages = Readonly<Record<(typeof STOPPAGES)[number], boolean>>;

export interface PrinterFaults extends Stoppages {
  /** Queries are not answered; labels are printed all the same. */
  readonly silent: boolean;
  /** How much longer each label takes, ms. */
  readonly slow: number;
}

export interface AskedFaults extends PrinterFaults {
  readonly 'power-off': boolean;
}

export const NO_FAULTS: AskedFaults = {
  'media-empty': false,
  'marker-supply-empty': false,
  'cover-open': false,
  paused: false,
  silent: false,
  slow: 0,
  'power-off': false,
};

const WORDS = ['media-empty', 'marker-supply-empty', 'cover-open', 'paused', 'silent', 'power-off'] as const;
/** Other names that people use for faults. */
const MEANT: ReadonlyMap<string, string> = new Map([
  ['media-out', 'media-empty'],
  ['paper-out', 'media-empty'],
  ['ribbon-out', 'marker-supply-empty'],
  ['head-open', 'cover-open'],
  ['off', 'power-off'],
  ['mute', 'silent'],
  ['pause', 'paused'],
]);
const SLOWEST = 600_000;

/** Every word that {@link faultsOf} reads, for messages and help. */
export const FAULT_WORDS: readonly string[] = [...WORDS, 'slow=MS', 'clear', 'clear=FAULT'];

/** Thrown for a word that names no fault. */
export class FaultWordError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'FaultWordError';
  }
}

/**
 * What words such as `media-empty`, `slow=500`, `clear` and `clear=silent` change; the later ones win.
 * @throws FaultWordError
 */
export function faultsOf(words: readonly string[]): Partial<AskedFaults> {
  let changes: Partial<AskedFaults> = {};
  for (const word of words) changes = { ...changes, ...change(word) };
  return changes;
}

function change(word: string): Partial<AskedFaults> {
  if (word === 'clear') return NO_FAULTS;
  if (word === 'clear=slow') return { slow: 0 };
  const [, cleared = '', asked = ''] = /^(clear=)?(.*)$/s.exec(word) ?? [];
  const known = WORDS.find((each) => each === asked);
  if (known !== undefined) return { [known]: cleared === '' };
  const [, ms] = /^slow=(\d{1,6})$/.exec(word) ?? [];
  if (ms !== undefined && Number(ms) <= SLOWEST) return { slow: Number(ms) };
  if (word.startsWith('slow')) {
    throw new FaultWordError(`slow takes whole milliseconds up to ${SLOWEST}, as in slow=500`);
  }
  const meant = MEANT.get(asked.toLowerCase()) ?? nearest(asked, WORDS);
  throw new FaultWordError(
    `there is no such fault: ${JSON.stringify(word.slice(0, 40))}; ` +
      (meant === undefined ? `there are ${FAULT_WORDS.join(', ')}` : `did you mean ${cleared}${meant}?`),
  );
}

/** The words for what is in effect. */
export function wordsFor(faults: AskedFaults): string[] {
  return [...WORDS.filter((word) => faults[word]), ...(faults.slow > 0 ? [`slow=${faults.slow}`] : [])];
}
