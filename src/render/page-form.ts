/**
 * A page of somebody's PDF as vectors: a form (ISO 32000-1 §8.10) with all the objects that it draws with, ready to be put into
 * a PDF of ours. It is made in the thread for PDF documents. It has only text and numbers, so that it can go to other threads.
 */

/** Maps (x, y) to (a·x + c·y + e, b·x + d·y + f). The numbers are in PDF's order. */
export type Matrix = readonly [a: number, b: number, c: number, d: number, e: number, f: number];

/** An object's text, with one character for each byte (latin1). Where it names another object, `to` has that object's ID. */
export type ObjectText = readonly (string | { readonly to: string })[];

export interface PageForm {
  /** Tells which forms are from one file: among these, an ID always means the same object. */
  readonly file: string;
  readonly objects: ReadonlyMap<string, ObjectText>;
  readonly form: ObjectText;
  /** Maps the form's coordinates to where the form lies, points. A label's form lies on a page of the label's size. */
  readonly matrix: Matrix;
}

/** The matrix that does what `first` does, and after it what `then` does. */
export function afterwards(first: Matrix, then: Matrix): Matrix {
  const [a, b, c, d, e, f] = first;
  const [p, q, r, s, t, u] = then;
  return [
    ...([a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s] as const),
    ...([e * p + f * r + t, e * q + f * s + u] as const),
  ];
}

/** The matrix that undoes this one; undefined if there is none. */
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

/** The operators that draw a form, on a page whose resources name it /P. */
export function drawingOf({ matrix }: PageForm): string {
  return `q ${pdfNumbers(matrix)} cm /P Do Q`;
}

/** A file that forms are put into. */
interface Target {
  /** Returns the number of an object that will be added later. */
  reserve(): number;
  add(number: number, text: string): void;
}

/** Puts forms into a file. An object that several forms draw with is written once. */
export class PlacedForms {
  readonly #target: Target;
  /** The numbers that objects have in the target, by the file they are from, then by ID. */
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
