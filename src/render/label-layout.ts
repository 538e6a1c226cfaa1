/**
 * A designed template, compiled once, and laid out for each record.
 *
 * Compiling does what does not depend on a record: dots, decoded pictures, fixed elements. Those come out as the
 * same items every time, so that a language can keep what it made of them.
 *
 * `landscape` turns the whole label 90° clockwise onto the media: a template 152.4 mm wide and 101.6 mm high
 * prints on media 101.6 mm wide and 152.4 mm long. A label smaller than the media starts at its top left corner.
 */
import type { LabelRecord, Orientation } from '../contract/print-request.ts';
import type { BoxElement, DesignedTemplate, LineElement, TemplateElement } from '../contract/template.ts';
import { barcodeLayout, type LabelGrid } from './barcode-layout.ts';
import { type DisplayList, dots, type Item, type Turn } from './display-list.ts';
import { imageItems } from './image.ts';
import { fieldDefaults } from './merge.ts';
import { ElementFault, type ElementLayout, type ElementPlace, jobFaultOf } from './place.ts';
import { textLayout } from './text-element.ts';
import { turnItem } from './turn.ts';

export interface LabelTarget {
  readonly dpi: number;
  readonly orientation: Orientation;
}

export interface CompiledLabel {
  /** The label as it lies on the media. */
  readonly sheet: Omit<DisplayList, 'items'>;
  /** The items that are the same for every record, as `layout` returns them. */
  readonly fixed: readonly Item[];
  /**
   * The label of one record.
   * @param index the record's number in its job, for errors
   * @throws JobFaultError `value-invalid`, `does-not-fit`
   */
  layout(record: LabelRecord, index?: number): DisplayList;
  /** Throws what `layout` would throw, sooner. */
  check(record: LabelRecord, index?: number): void;
}

/**
 * @param target the printer's resolution, and how the label lies on the media
 * @throws JobFaultError `template-invalid`, and what a fixed element would raise for every record
 */
export async function compileLabel(template: DesignedTemplate, target: LabelTarget): Promise<CompiledLabel> {
  const { dpi } = target;
  const grid: LabelGrid = { dpi, width: dots(template.width, dpi), height: dots(template.height, dpi) };
  const turn: Turn = target.orientation === 'landscape' ? 90 : 0;
  const sheet =
    turn === 90
      ? { dpi, width: grid.height, height: grid.width, widthMm: template.height, heightMm: template.width }
      : { dpi, width: grid.width, height: grid.height, widthMm: template.width, heightMm: template.height };
  const media = { x: 0, y: 0, width: sheet.width, height: sheet.height };
  const turned = (items: readonly Item[]) => items.map((item) => turnItem(item, turn, media));

  const elements = await asJobFault(undefined, () => compileElements(template, grid));
  const fixed = asJobFaultSync(undefined, () =>
    elements.map((element) => (element.fields.length === 0 ? turned(element.layout({}, false)) : undefined)),
  );

  return {
    sheet,
    fixed: fixed.flatMap((items) => items ?? []),
    layout: (record, index) =>
      asJobFaultSync(index ?? 0, () => {
        const items: Item[] = [];
        elements.forEach((element, at) => {
          items.push(...(fixed[at] ?? turned(element.layout(record, false))));
        });
        return { ...sheet, items };
      }),
    check: (record, index) =>
      asJobFaultSync(index ?? 0, () => {
        elements.forEach((element, at) => {
          if (fixed[at] === undefined) element.layout(record, true);
        });
      }),
  };
}

async function compileElements(template: DesignedTemplate, grid: LabelGrid): Promise<ElementLayout[]> {
  const defaults = fieldDefaults(template.fields);
  const layouts: ElementLayout[] = [];
  for (const [index, element] of template.elements.entries()) {
    const place: ElementPlace = {
      template: template.name,
      pointer: `/elements/${index}`,
      what: element.type === 'barcode' ? `barcode ${element.symbology}` : element.type,
    };
    layouts.push(await compileElement(element, place, grid, defaults));
  }
  return layouts;
}

async function compileElement(
  element: TemplateElement,
  place: ElementPlace,
  grid: LabelGrid,
  defaults: ReadonlyMap<string, string>,
): Promise<ElementLayout> {
  switch (element.type) {
    case 'text':
      return textLayout(element, place, grid, defaults);
    case 'barcode':
      return barcodeLayout(element, place, grid, defaults);
    case 'box':
      return always(boxItems(element, grid));
    case 'line':
      return always(lineItems(element, grid));
    case 'image':
      return always(await imageItems(element, place, grid.dpi));
  }
}

function always(items: Item[]): ElementLayout {
  return { fields: [], layout: () => items };
}

function boxItems(element: BoxElement, { dpi }: LabelGrid): Item[] {
  const x = dots(element.x, dpi);
  const y = dots(element.y, dpi);
  // Rounded at both edges, so that boxes that touch on paper touch in dots.
  const width = Math.max(1, dots(element.x + element.width, dpi) - x);
  const height = Math.max(1, dots(element.y + element.height, dpi) - y);
  const thickness = Math.max(1, dots(element.thickness, dpi));
  const radius = Math.min(dots(element.radius, dpi), Math.floor(Math.min(width, height) / 2));
  const solid = element.filled || 2 * thickness >= Math.min(width, height);
  if (radius > 0) return [{ kind: 'rounded', x, y, width, height, thickness, radius, filled: solid }];
  if (solid) return [{ kind: 'fill', x, y, width, height, ink: 'black' }];
  const side = height - 2 * thickness;
  return [
    { kind: 'fill', x, y, width, height: thickness, ink: 'black' },
    { kind: 'fill', x, y: y + height - thickness, width, height: thickness, ink: 'black' },
    { kind: 'fill', x, y: y + thickness, width: thickness, height: side, ink: 'black' },
    {
      kind: 'fill',
      x: x + width - thickness,
      y: y + thickness,
      width: thickness,
      height: side,
      ink: 'black',
    },
  ];
}

/** Horizontal and vertical lines hang below and right of their points, as ^GB draws them. */
function lineItems(element: LineElement, { dpi }: LabelGrid): Item[] {
  const [x1, y1] = [dots(element.x, dpi), dots(element.y, dpi)];
  const [x2, y2] = [dots(element.x2, dpi), dots(element.y2, dpi)];
  const thickness = Math.max(1, dots(element.thickness, dpi));
  const x = Math.min(x1, x2);
  const y = Math.min(y1, y2);
  if (y1 === y2) {
    return [{ kind: 'fill', x, y, width: Math.max(1, Math.abs(x2 - x1)), height: thickness, ink: 'black' }];
  }
  if (x1 === x2) return [{ kind: 'fill', x, y, width: thickness, height: Math.abs(y2 - y1), ink: 'black' }];
  return [{ kind: 'stroke', x1, y1, x2, y2, thickness }];
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
