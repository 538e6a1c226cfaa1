/** What can be wrong with a virtual printer, and the words in which a person or a test asks for it. */
import { nearest } from '../../contract/nearest.ts';

/** What keeps labels from coming out, in the words of printer-state-reasons (RFC 8011 §5.4.12). */
export const STOPPAGES = ['media-empty', 'marker-supply-empty', 'cover-open', 'paused'] as const;
export type Stoppages = Readonly<Record<(typeof STOPPAGES)[number], boolean>>;

export interface PrinterFaults extends Stoppages {
  /** No question is answered; what is sent is printed all the same. */
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
/** As people call them. */
const MEANT: Readonly<Record<string, string>> = {
  'media-out': 'media-empty',
  'paper-out': 'media-empty',
  'ribbon-out': 'marker-supply-empty',
  'head-open': 'cover-open',
  off: 'power-off',
  mute: 'silent',
  pause: 'paused',
};
const SLOWEST = 600_000;

/** Every word that {@link faultsOf} reads, for messages and help. */
export const FAULT_WORDS: readonly string[] = [...WORDS, 'slow=MS', 'clear', 'clear=FAULT'];

/** A word that asks for no fault. */
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
  return Object.assign({}, ...words.map(change));
}

function change(word: string): Partial<AskedFaults> {
  const [name = '', value, ...more] = word.split('=');
  if (name === 'clear' && value === undefined) return NO_FAULTS;
  if (name === 'slow' && value !== undefined && more.length === 0) {
    const ms = /^\d{1,6}$/.test(value) ? Number(value) : Number.NaN;
    if (ms <= SLOWEST) return { slow: ms };
    throw new FaultWordError(`slow takes whole milliseconds up to ${SLOWEST}, as in slow=500`);
  }
  const cleared = name === 'clear';
  const asked = cleared ? value : word;
  if (cleared && more.length === 0 && value === 'slow') return { slow: 0 };
  const known = WORDS.find((each) => each === asked);
  if (known !== undefined) return { [known]: !cleared };
  throw unknown(asked ?? '', cleared ? 'clear=' : '');
}

function unknown(asked: string, before: string): FaultWordError {
  const meant = MEANT[asked.toLowerCase()] ?? nearest(asked, [...WORDS, 'clear']);
  const suggestion = asked.startsWith('slow') ? 'slow=500' : meant && before + meant;
  return new FaultWordError(
    suggestion === undefined
      ? `there is no such fault: ${JSON.stringify(asked.slice(0, 40))}; there are ${FAULT_WORDS.join(', ')}`
      : `there is no such fault: ${JSON.stringify(before + asked)}; did you mean ${suggestion}?`,
  );
}

/** The words for what is in effect. */
export function wordsFor(faults: AskedFaults): string[] {
  return [...WORDS.filter((word) => faults[word]), ...(faults.slow > 0 ? [`slow=${faults.slow}`] : [])];
}
