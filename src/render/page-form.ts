/**
 * A page of somebody's PDF as vectors: a form (ISO 32000-1 §8.10) with all that it draws with, ready to be put into a PDF of
 * ours. It is made in the thread for PDF documents, and is text and numbers alone, so that other threads can have it.
 */

/** From (x, y) to (a·x + c·y + e, b·x + d·y + f), as PDF writes it. */
export type Matrix = readonly [a: number, b: number, c: number, d: number, e: number, f: number];

/** An object's text, a character a byte (latin1), and where it names other objects, by their IDs. */
export type ObjectText = readonly (string | { readonly to: string })[];

export interface PageForm {
  /** Forms of one file have it in common, and then objects of one ID are the same. */
  readonly file: string;
  readonly objects: ReadonlyMap<string, ObjectText>;
  readonly form: ObjectText;
  /** From the form's coordinates to where it lies; of a label: to the page of the label's size, points. */
  readonly matrix: Matrix;
}

/** First `first`, then `then`. */
export function afterwards(first: Matrix, then: Matrix): Matrix {
  const [a, b, c, d, e, f] = first;
  const [p, q, r, s, t, u] = then;
  return [
    ...([a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s] as const),
    ...([e * p + f * r + t, e * q + f * s + u] as const),
  ];
}

/** Undefined: nothing leads back. */
export function inverse([a, b, c, d, e, f]: Matrix): Matrix | undefined {
  const size = a * d - b * c;
  if (!Number.isFinite(1 / size)) return undefined;
  const [p, q, r, s] = [d / size, -b / size, -c / size, a / size];
  return [p, q, r, s, -(e * p + f * r), -(e * q + f * s)];
}

/** As PDF writes numbers: without an exponent. */
export function pdfNumbers(numbers: readonly number[]): string {
  return numbers.map((number) => number.toFixed(8)).join(' ');
}

/** What draws a form that its page has as /P. */
export function drawingOf({ matrix }: PageForm): string {
  return `q ${pdfNumbers(matrix)} cm /P Do Q`;
}

/** A file in which forms are put. */
interface Target {
  /** The number of an object that follows. */
  reserve(): number;
  add(number: number, text: string): void;
}

/** Puts forms into a file: what several of them draw with is there once. */
export class PlacedForms {
  readonly #target: Target;
  /** By file, by ID. */
  readonly #numbers = new Map<string, Map<string, number>>();

  constructor(target: Target) {
    this.#target = target;
  }

  /** @returns the form's number */
  place({ file, objects, form }: PageForm): number {
    const numbers = this.#numbers.get(file) ?? new Map<string, number>();
    this.#numbers.set(file, numbers);
    const fresh = [...objects].filter(([id]) => !numbers.has(id));
    for (const [id] of fresh) numbers.set(id, this.#target.reserve());
    const written = (text: ObjectText) =>
      text.map((part) => (typeof part === 'string' ? part : `${numbers.get(part.to) ?? 0} 0 R`)).join('');
    for (const [id, text] of fresh) this.#target.add(numbers.get(id) ?? 0, written(text));
    const number = this.#target.reserve();
    this.#target.add(number, written(form));
    return number;
  }
}
