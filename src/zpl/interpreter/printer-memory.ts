/**
 * What a ZPL printer remembers from one format to the next: settings that stay until they are changed, and objects that are
 * stored by name. DRAM (`R:`) is lost when the power goes; flash (`E:`, `B:`, `A:`) is not.
 *
 * Source: ZPL II Programming Guide, ^DF ^XF ^ID ^EF ~DG ~EG, and the persistence notes of each setting command.
 */
import type { ZplCommand } from '../stream.ts';
import type { StoredFile } from './stored-file.ts';

/** Settings that stay in force after the format that made them. Their values are the command's parameters. */
const LASTING = ['CI', 'CF', 'BY', 'FW', 'LH', 'LR', 'LL', 'LS', 'LT', 'MU', 'PM', 'PO', 'PW'] as const;
export type LastingSetting = (typeof LASTING)[number];
const lasting = new Set<string>(LASTING);

export function isLastingSetting(name: string): name is LastingSetting {
  return lasting.has(name);
}

/** A setting's new value. In ^BY and ^FW, and in a ^CF without a font, parameters that are left out keep their old values. */
export function lastingValue(name: string, before: string | undefined, value: string): string {
  const given = value.split(',');
  const merges = name === 'BY' || name === 'FW' || (name === 'CF' && given[0]?.trim() === '');
  if (!merges || before === undefined) return value;
  const known = before.split(',');
  const length = Math.max(known.length, given.length);
  return Array.from({ length }, (_, at) => given[at]?.trim() || known[at] || '').join(',');
}

type StoredObject =
  | { kind: 'format'; commands: readonly ZplCommand[]; bytes: number }
  | { kind: 'graphic'; definition: string; dots: number; bytes: number }
  | StoredFile;

/** The most objects in the memory. Firmware has such a limit too. */
const MOST_OBJECTS = 1_000;

/**
 * Whether a name fits a pattern in which `*` stands for any text. It goes back only to the last `*`, so that a stranger's
 * pattern takes at most as many steps as the product of both lengths.
 */
function matches(pattern: string, name: string): boolean {
  let at = 0;
  let star = -1;
  let behindStar = 0;
  let from = 0;
  while (from < name.length) {
    if (pattern[at] === '*') {
      star = at;
      behindStar = from;
      at += 1;
    } else if (pattern[at] === name[from]) {
      at += 1;
      from += 1;
    } else if (star >= 0) {
      behindStar += 1;
      from = behindStar;
      at = star + 1;
    } else return false;
  }
  while (pattern[at] === '*') at += 1;
  return at === pattern.length;
}

export class PrinterMemory {
  readonly #limit: number;
  readonly settings = new Map<LastingSetting, string>();
  /** By letter, the fonts that `^CW` has given one. */
  readonly fontLetters = new Map<string, string>();
  readonly #objects = new Map<string, StoredObject>();
  #used = 0;

  /** `limit`: the most bytes that all stored objects may have together. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get graphics(): number {
    return [...this.#objects.values()].filter(({ kind }) => kind === 'graphic' || kind === 'picture').length;
  }

  object(name: string): StoredObject | undefined {
    return this.#objects.get(name);
  }

  /** If there is no room left, it stores nothing and returns false. */
  store(name: string, object: StoredObject): boolean {
    const replaced = this.#objects.get(name);
    const used = this.#used + object.bytes - (replaced?.bytes ?? 0);
    if (used > this.#limit || (replaced === undefined && this.#objects.size >= MOST_OBJECTS)) return false;
    this.#objects.set(name, object);
    this.#used = used;
    return true;
  }

  /** `^ID`. In the name and the extension, `*` stands for any text. */
  delete(pattern: string): void {
    if (!pattern.includes('*')) this.#forget(pattern);
    else for (const name of this.#objects.keys()) if (matches(pattern, name)) this.#forget(name);
  }

  deleteKind(kind: StoredObject['kind']): void {
    for (const [name, object] of this.#objects) if (object.kind === kind) this.#forget(name);
  }

  /** The power goes off: settings fall back to their defaults, and DRAM is empty. */
  powerLoss(): void {
    this.settings.clear();
    this.fontLetters.clear();
    for (const name of this.#objects.keys()) if (name.startsWith('R:')) this.#forget(name);
  }

  #forget(name: string): void {
    this.#used -= this.#objects.get(name)?.bytes ?? 0;
    this.#objects.delete(name);
  }
}
