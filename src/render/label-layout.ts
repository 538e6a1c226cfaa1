/**
 * Compiles a designed template once, and lays it out for each record.
 *
 * Compiling does what does not depend on a record: dots, decoded pictures, fixed elements. Fixed elements
 * give the same item objects every time, so that a language can keep what it made of them.
 *
 * `landscape` turns the whole label 90° clockwise onto the media: a template 152.4 mm wide and 101.6 mm high
 * prints on media 101.6 mm wide and 152.4 mm long. A label smaller than the media starts at its top left corner.
 */
import { setImmediate as breathe } from 'node:timers/promises';
import { dots } from '../contract/dots.ts';
import type { LabelRecord, Orientation } from '../contract/print-request.ts';
import type { DesignedTemplate } from '../contract/template.ts';
import { countsCopies, isNumber, type JobFacts, numbered, templateScope } from '../values/built-ins.ts';
import { createAssets } from './assets.ts';
import type { DisplayList, Item } from './display-list.ts';
import { requireDots } from './dot-limit.ts';
import { compileElement } from './element.ts';
import type { Rotation } from './image/bitmap.ts';
import { labelGrid } from './label-grid.ts';
import { ElementFault, type ElementLayout, jobFaultOf } from './place.ts';
import { turnItem } from './turn.ts';

export interface LabelTarget {
  readonly dpi: number;
  readonly orientation: Orientation;
  /** The facts that labels may print about their job; a template that prints the time needs them. */
  readonly job?: JobFacts;
}

/** A size and a resolution. */
export type MediaGrid = Omit<DisplayList, 'items' | 'form'>;

export interface CompiledLabel {
  /** The label as it lies on the media. */
  readonly media: MediaGrid;
  /** The items that are the same for every record, as `layout` returns them. */
  readonly fixed: readonly Item[];
  /** True: the labels of one record differ, because they print the number of the copy or of the label. */
  readonly countsCopies: boolean;
  /**
   * The label of one record.
   * @param index the record's number in its job, from 0
   * @param copy which of the record's labels, from 0
   * @throws JobFaultError `value-invalid`, `does-not-fit`
   */
  layout(record: LabelRecord, index?: number, copy?: number): DisplayList;
  /** Throws what `layout` would throw, but faster; if copies differ, it checks the first and the last. */
  check(record: LabelRecord, index?: number): void;
}

/**
 * @param target the printer's resolution, and how the label lies on the media
 * @throws JobFaultError `template-invalid`, and what a fixed element would raise for every record
 */
export async function compileLabel(template: DesignedTemplate, target: LabelTarget): Promise<CompiledLabel> {
  const { dpi } = target;
  const grid = labelGrid(template, dpi);
  requireDots('label', grid, dpi);
  const turn: Rotation = target.orientation === 'landscape' ? 90 : 0;
  const media = mediaGrid(template, target);
  const whole = { x: 0, y: 0, width: media.width, height: media.height };
  const lying = new WeakMap<readonly Item[], readonly Item[]>();
  /** Returns the same turned items whenever it gets the same items. */
  const turned = (items: readonly Item[]): readonly Item[] => {
    if (turn === 0) return items;
    const known = lying.get(items) ?? items.map((item) => turnItem(item, turn, whole));
    lying.set(items, known);
    return known;
  };

  const scope = templateScope(template, target.job);
  const elements = await asJobFault(undefined, async () => {
    const assets = createAssets(template);
    const compiled: ElementLayout[] = [];
    for (const index of template.elements.keys())
      compiled.push(await compileElement(template, index, grid, scope, assets));
    return compiled;
  });
  const uses = (test: (field: string) => boolean) => elements.some(({ fields }) => fields.some(test));
  const counts = uses(isNumber);
  const copies = target.job?.copies ?? 1;
  const valuesOf = (record: LabelRecord, index: number, copy: number) =>
    counts ? numbered(record, index, copy, target.job) : record;
  const copiesDiffer = uses(countsCopies);
  const fixed: (readonly Item[] | undefined)[] = [];
  for (const element of elements) {
    const draws = element.fields.length === 0;
    fixed.push(draws ? asJobFaultSync(undefined, () => turned(element.layout({}, false))) : undefined);
    // A turn of the event loop frees the memory that pictures were drawn in.
    if (draws) await breathe();
  }

  return {
    media,
    fixed: fixed.flatMap((items) => items ?? []),
    countsCopies: copiesDiffer,
    layout: (record, index = 0, copy = 0) =>
      asJobFaultSync(index, () => {
        const values = valuesOf(record, index, copy);
        const items: Item[] = [];
        elements.forEach((element, at) => {
          items.push(...(fixed[at] ?? turned(element.layout(values, false))));
        });
        return { ...media, items };
      }),
    check: (record, index = 0) =>
      asJobFaultSync(index, () => {
        for (const copy of copiesDiffer && copies > 1 ? [0, copies - 1] : [0]) {
          const values = valuesOf(record, index, copy);
          elements.forEach((element, at) => {
            if (fixed[at] === undefined) element.layout(values, true);
          });
        }
      }),
  };
}

/** A label or sheet as it lies on the media. @param size as designed, mm */
export function mediaGrid(
  size: { width: number; height: number },
  { dpi, orientation }: Pick<LabelTarget, 'dpi' | 'orientation'>,
): MediaGrid {
  const [widthMm, heightMm] =
    orientation === 'landscape' ? [size.height, size.width] : [size.width, size.height];
  return { dpi, width: dots(widthMm, dpi), height: dots(heightMm, dpi), widthMm, heightMm };
}

function asJobFaultSync<T>(record: number | undefined, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof ElementFault) throw jobFaultOf(error, record);
    throw error;
  }
}

async function asJobFault<T>(record: number | undefined, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof ElementFault) throw jobFaultOf(error, record);
    throw error;
  }
}
