/** Fetches the service's picture of the open label, with one request at a time, always for the latest scene. */
import { signal } from '@preact/signals';
import type { Preview } from '../../src/contract/label-picture.ts';
import type { LabelRecord, Orientation } from '../../src/contract/print-request.ts';
import type { TemplateProblem } from '../../src/contract/template-problem.ts';
import { errorOf } from '../service/call.ts';
import { draw } from '../templates/preview.ts';
import { type LabelElement, placed, type Scene } from './document.ts';
import type { Box } from './frame.ts';

type Look = {
  readonly dpi: number;
  readonly orientation: Orientation;
  /** undefined: the label is drawn with the samples of its fields. */
  readonly record: LabelRecord | undefined;
};

/** A problem, and the key of the element that it is about. */
export type Found = TemplateProblem & { readonly key: number | undefined };

export type Drawn = {
  readonly scene: Scene;
  readonly look: Look;
  readonly preview: Preview;
  /** By key, the box of each element's ink, mm; `dots` has, of texts, the box of their black dots. */
  readonly ink: ReadonlyMap<number, Box>;
  readonly dots: ReadonlyMap<number, Box>;
  /** By key, the elements that a ZPL printer draws with its own means. */
  readonly printer: ReadonlyMap<number, 'text' | 'bars'>;
  /** By key, the elements as they were when this picture was drawn. */
  readonly elements: ReadonlyMap<number, LabelElement>;
  readonly problems: readonly Found[];
  /** Keys of elements that would not print: those that do not fit, though the picture has them, and those that cannot be drawn. */
  readonly refused: ReadonlySet<number>;
};

/** ms before the next attempt if the service did not answer. */
const AGAIN = 2_000;

export class Drawing {
  readonly last = signal<Drawn | undefined>(undefined);
  readonly busy = signal(false);
  readonly problem = signal<Error | undefined>(undefined);
  readonly #stop = new AbortController();
  #wanted: { scene: Scene; look: Look } | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  want(scene: Scene, look: Look): void {
    this.#wanted = { scene, look };
    if (!this.busy.peek()) void this.#ask();
  }

  end(): void {
    this.#stop.abort();
    clearTimeout(this.#timer);
  }

  async #ask(): Promise<void> {
    clearTimeout(this.#timer);
    this.busy.value = true;
    while (this.#wanted !== undefined && !this.#stop.signal.aborted) {
      const { scene, look } = this.#wanted;
      this.#wanted = undefined;
      try {
        this.last.value = await drawn(scene, look, this.#stop.signal);
        this.problem.value = undefined;
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        this.problem.value = errorOf(error);
        this.#wanted ??= this.problem.value.name === 'NoAnswer' ? { scene, look } : undefined;
        if (this.#wanted?.scene === scene) {
          this.#timer = setTimeout(() => void this.#ask(), AGAIN);
          break;
        }
      }
    }
    this.busy.value = false;
  }
}

async function drawn(scene: Scene, look: Look, signal: AbortSignal): Promise<Drawn> {
  // Hidden elements are not sent, so the indexes in the request differ from those in the document.
  const shown = placed(scene).filter(({ hidden }) => !hidden);
  const template = { ...scene.document, elements: shown.map(({ element }) => element) };
  const { dpi, orientation, record } = look;
  const preview = await draw({ template, dpi, orientation, ...(record && { record }) }, signal);
  const keyAt = (pointer: string) => {
    const [, at] = /^\/elements\/(\d+)/.exec(pointer) ?? [];
    return at === undefined ? undefined : shown[Number(at)]?.key;
  };
  const ink = new Map<number, Box>();
  const own = new Map<number, 'text' | 'bars'>();
  const mm = (dots: number) => (dots * 25.4) / dpi;
  const inMm = ({ x, y, width, height }: Box): Box => ({
    x: mm(x),
    y: mm(y),
    width: mm(width),
    height: mm(height),
  });
  const dots = new Map<number, Box>();
  const refused = new Set<number>();
  for (const { pointer, printer, refused: unfit, ink: black, ...box } of preview.boxes) {
    const key = keyAt(pointer);
    if (key === undefined) continue;
    ink.set(key, inMm(box));
    if (unfit) refused.add(key);
    if (black !== undefined) dots.set(key, inMm(black));
    if (printer !== undefined) own.set(key, printer);
  }
  const problems = preview.problems.map((problem) => ({ ...problem, key: keyAt(problem.pointer) }));
  for (const { key } of problems) if (key !== undefined && !ink.has(key)) refused.add(key);
  return {
    ...{ scene, look, preview, ink, dots, printer: own, refused },
    elements: new Map(shown.map(({ key, element }) => [key, element])),
    problems,
  };
}
