/** Compiles a text element: merges values into the text, lays it out in its box, places it on the label. */

import { dots } from '../../contract/dots.ts';
import { because, type Reason } from '../../contract/reason.ts';
import type { TextElement } from '../../contract/template.ts';
import type { Defaults } from '../../values/built-ins.ts';
import { compileText } from '../../values/merge.ts';
import { enclosing, type Item, type Rect, type TextItem } from '../display-list.ts';
import { requireElementDots } from '../dot-limit.ts';
import type { LabelGrid } from '../label-grid.ts';
import { ElementFault, type ElementLayout, type ElementPlace } from '../place.ts';
import { turnPoint, turnRect, upright } from '../turn.ts';
import type { Face } from './font-face.ts';
import { FontFault } from './font-fault.ts';
import { isPlain } from './font0.ts';
import { missingGlyph, noGlyph } from './glyphs.ts';
import { isCut, roomFrom } from './label-edge.ts';
import { inkHeight } from './measure.ts';
import type { FontSet } from './tenant-fonts.ts';
import { layoutText, printable, SMALLEST_TEXT, type TextBlock, type TextStyle } from './text-layout.ts';

/**
 * Many texts repeat on the labels of a job (a product, a sender, a unit). Their lines are laid out once, and give the same item
 * objects every time, so that a language can keep what it has made of them. Only a few short texts are kept.
 */
const MOST_RECENT = 64;
const LONGEST_RECENT = 1000;

function faceOf(element: TextElement, place: ElementPlace, fonts: FontSet): Face {
  if (element.font === 'sans') return `sans${element.bold ? '-bold' : ''}${element.italic ? '-italic' : ''}`;
  const refuse = (said: Reason) => new ElementFault('template-invalid', place, said);
  if (element.font === 'condensed') {
    if (element.italic) throw refuse(because('condensed-italic', {}));
    return 'condensed';
  }
  if (element.render === 'native') throw refuse(because('native-own-font', {}));
  try {
    return fonts.face(element);
  } catch (error) {
    if (error instanceof FontFault) throw refuse(error.said);
    throw error;
  }
}

function isNative(element: TextElement, text: string): boolean {
  if (element.letterSpacing !== 0) return false;
  if (element.render !== 'auto') return element.render === 'native';
  return element.font === 'condensed' && isPlain(text);
}

/** @throws ElementFault, JobFaultError `template-invalid` */
export function textLayout(
  element: TextElement,
  place: ElementPlace,
  grid: LabelGrid,
  scope: Defaults,
  fonts: FontSet,
): ElementLayout {
  const merged = compileText(element.text, scope, place.pointer);
  if (element.letterSpacing !== 0 && element.render === 'native') {
    throw new ElementFault('template-invalid', place, because('native-letter-spacing', {}));
  }
  const turn = element.rotation;
  const optionalDots = (mm: number | undefined) =>
    mm === undefined ? undefined : Math.max(1, dots(mm, grid.dpi));
  const outer = { width: optionalDots(element.width), height: optionalDots(element.height) };
  const sideways = turn === 90 || turn === 270;
  const size = Math.max(1, dots(element.size, grid.dpi));
  const style: TextStyle = {
    face: faceOf(element, place, fonts),
    spacing: element.letterSpacing,
    size,
    smallest: Math.min(size, Math.max(1, Math.round((SMALLEST_TEXT * grid.dpi) / 25.4))),
    width: sideways ? outer.height : outer.width,
    height: sideways ? outer.width : outer.height,
    align: element.align,
    valign: element.valign,
    overflow: element.overflow,
    room: roomOf(element, grid, outer),
    lineSpacing: element.lineSpacing,
    maxLines: element.maxLines,
  };
  const ink = element.reverse ? 'white' : 'black';

  const own = typeof style.face === 'string' ? undefined : style.face.characters;
  const layLines = (text: string): Item[] => {
    const missing = missingGlyph(text, own);
    if (missing !== null) {
      throw new ElementFault('value-invalid', place, noGlyph(missing));
    }
    const block = layoutText(style, text);
    if (block === null) {
      throw new ElementFault('does-not-fit', place, because('text-too-large', { smallest: SMALLEST_TEXT }), {
        unfit: () => {
          const cut = layoutText({ ...style, overflow: 'clip' }, text);
          return cut === null ? [] : itemsOf(cut).items;
        },
      });
    }
    const { items, isCut } = itemsOf(block);
    if (!isCut) return items;
    throw new ElementFault('does-not-fit', place, because('text-over-edge', {}), { unfit: () => items });
  };
  const itemsOf = (block: TextBlock): { items: Item[]; isCut: boolean } => {
    let cut = false;
    const box = boxAround(element, grid, style, block);
    const items: Item[] = element.reverse ? groundItems(element, box, style, block) : [];
    for (const line of block.lines) {
      if (line.text.trim() === '') continue;
      requireElementDots({ width: line.width, height: block.size }, place);
      const item: TextItem = {
        kind: 'text',
        ...turnPoint(box, turn, line.x, line.y),
        turn,
        text: line.text,
        size: block.size,
        face: style.face,
        ...(style.spacing === 0 ? {} : { spacing: style.spacing }),
        ink,
        native: isNative(element, line.text),
      };
      cut ||= isCut(item, line.width, grid);
      items.push(item);
    }
    return { items, isCut: cut };
  };

  const recent = new Map<string, Item[]>();
  return {
    fields: merged.fields,
    layout: (record) => {
      const text = printable(merged.fill(record));
      if (text === '' && !element.reverse) return [];
      const known = recent.get(text);
      if (known !== undefined) return known;
      const items = layLines(text);
      if (recent.size === MOST_RECENT) recent.clear();
      if (text.length <= LONGEST_RECENT) recent.set(text, items);
      return items;
    },
  };
}

/**
 * What a clipped text may fill, upright: its box, as far as the box is on the label. Without a width it is all that the label's
 * edge leaves.
 * @param outer the box's sides, dots
 */
function roomOf(
  { x: left, y: top, rotation, align }: TextElement,
  grid: LabelGrid,
  outer: { width: number | undefined; height: number | undefined },
): TextStyle['room'] {
  const [x, y] = [dots(left, grid.dpi), dots(top, grid.dpi)];
  const box = { x, y, width: outer.width ?? 0, height: outer.height ?? 0 };
  const { onward, back, down } = roomFrom(turnPoint(box, rotation, 0, 0), rotation, grid);
  const sideways = rotation === 90 || rotation === 270;
  const width = sideways ? outer.height : outer.width;
  const height = sideways ? outer.width : outer.height;
  const unboxed = align === 'right' ? back : 2 * Math.min(onward, back);
  return {
    width: align === 'left' ? Math.min(width ?? onward, onward) : (width ?? unboxed),
    // Without a height the box grows to the right or down from its corner, whichever way the text is turned.
    height: height === undefined ? (sideways ? grid.width - x : grid.height - y) : Math.min(height, down),
  };
}

/** The element's box on the label. Without a width it is 0 wide, and without a height it is as high as the lines. */
function boxAround(element: TextElement, grid: LabelGrid, style: TextStyle, block: TextBlock): Rect {
  const lines = block.lines.length;
  const inner = {
    width: style.width ?? 0,
    height: style.height ?? Math.round(block.size * (1 + (lines - 1) * style.lineSpacing)),
  };
  return { x: dots(element.x, grid.dpi), y: dots(element.y, grid.dpi), ...upright(inner, element.rotation) };
}

/**
 * The black under white text: the element's box. If it has no box, or its lines reach out of the box, as marks do (Ä, Ñ), a
 * second item covers all that the lines need. They are two items, because the box is the same for every record, and so can be
 * stored in the printer for a batch.
 */
function groundItems(
  { rotation }: TextElement,
  box: Rect,
  { face, spacing }: TextStyle,
  { size, lines }: TextBlock,
): Item[] {
  const own: Rect = { x: 0, y: 0, ...upright(box, rotation) };
  const inked = lines.map(({ text, x, y, width }): Rect => {
    const { up, down } = inkHeight({ face, size, text, spacing });
    return { x, y: y - up, width: Math.ceil(width), height: up + down };
  });
  const all = enclosing([own, ...inked]) ?? own;
  const same = all.x === 0 && all.y === 0 && all.width === own.width && all.height === own.height;
  return (same ? [own] : [own, all])
    .filter(({ width, height }) => width > 0 && height > 0)
    .map((ground) => ({ kind: 'fill', ...turnRect(box, rotation, ground), ink: 'black' }));
}
