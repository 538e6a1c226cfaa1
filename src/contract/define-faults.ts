/**
 * Makes an error class from one table of what can go wrong, as fastify makes its own. Programs tell errors
 * apart by `code`, which is stable; the message is for a person. `class E extends defineFaults('E', {…}) {}`.
 */

export interface FaultKind {
  /** The title of every error with this code. */
  readonly title?: string;
  /** Trying again is harmless and may succeed. Left out: trying again may do harm. */
  readonly retrySafe?: true;
}

/** @param says makes the message from the kind and the detail; left out: the message is the detail */
export function defineFaults<const Table extends Readonly<Record<string, FaultKind>>>(
  name: string,
  table: Table,
  says = (_kind: FaultKind, detail: string): string => detail,
) {
  return class extends Error {
    override readonly name = name;
    readonly code: keyof Table & string;
    readonly retrySafe: boolean;

    constructor(code: keyof Table & string, detail: string, options?: ErrorOptions) {
      const kind: FaultKind = table[code] ?? {};
      super(says(kind, detail), options);
      this.code = code;
      this.retrySafe = kind.retrySafe ?? false;
    }
  };
}

/** For `defineFaults`: messages that begin with the title. */
export function titled({ title }: FaultKind, detail: string): string {
  return `${title}: ${detail}`;
}

/** The codes of such a table, or the words of any other: what `z.enum` takes. */
export function wordsOf<Word extends string>(table: Readonly<Record<Word, unknown>>): [Word, ...Word[]] {
  return Object.keys(table) as [Word, ...Word[]];
}
