/** Frames of elements, and how an element changes if its frame is pulled or turned. All lengths are in mm. */
import { LIMITS } from '../../src/contract/limits.ts';
import { changed, type LabelElement, moved, rounded, within } from './document.ts';
import { SYMBOLOGY_FACTS } from './symbologies.ts';

export type Box = { readonly x: number; readonly y: number; readonly width: number; readonly height: number };
export type Corner = 'n' | 'ne' | 'e' | 'se' | 's' | 'sw' | 'w' | 'nw';
export type Handle = Corner | 'start' | 'end';

/** The least side that a frame can be pulled to. */
const LEAST = 0.5;
/** The default width of a module, as in `src/contract/template.ts`. */
export const MODULE = 0.33;

/**
 * The element's box as it is designed, or the box of its ink if it has none.
 * @param ink the ink in the last picture; undefined: the element has not been drawn yet
 */
export function frameOf(element: LabelElement, ink?: Box): Box {
  const { x, y } = element;
  switch (element.type) {
    case 'line': {
      const [left, top] = [Math.min(x, element.x2), Math.min(y, element.y2)];
      const least = element.thickness ?? 0.25;
      const width = Math.max(least, Math.abs(element.x2 - x));
      return { x: left, y: top, width, height: Math.max(least, Math.abs(element.y2 - y)) };
    }
    case 'text': {
      const guess = guessText(element.text, element.size, upright(element));
      const around = ink ?? { x: x - offset(element.align, guess.width), y, ...guess };
      const [left, width] = element.width === undefined ? [around.x, around.width] : [x, element.width];
      const [top, height] =
        element.height === undefined ? [Math.min(y, around.y), around.height] : [y, element.height];
      return { x: left, y: top, width, height };
    }
    case 'barcode': {
      const along = element.width;
      const high = element.height ?? 10;
      const guess = upright(element)
        ? { width: along ?? 25, height: high }
        : { width: high, height: along ?? 25 };
      const right = ink === undefined ? x + guess.width : Math.max(x + LEAST, ink.x + ink.width);
      const bottom = ink === undefined ? y + guess.height : Math.max(y + LEAST, ink.y + ink.height);
      const width = along !== undefined && upright(element) ? along : right - x;
      const height = along !== undefined && !upright(element) ? along : bottom - y;
      return { x, y, width, height };
    }
    default:
      return { x, y, width: element.width, height: element.height };
  }
}

/** @param dots the box of a text's dots in the last picture; it counts where the text has no width or no height */
export function outlineOf(element: LabelElement, frame: Box, dots: Box | undefined): Box {
  if (element.type !== 'text' || dots === undefined) return frame;
  const across = element.width === undefined ? dots : frame;
  const down = element.height === undefined ? dots : frame;
  return { x: across.x, y: down.y, width: across.width, height: down.height };
}

/** Whether the element is turned by 0° or 180°. */
function upright({ rotation = 0 }: { rotation?: number | undefined }): boolean {
  return rotation % 180 === 0;
}

function offset(align: 'left' | 'center' | 'right' | undefined, width: number): number {
  if (align === 'center') return width / 2;
  return align === 'right' ? width : 0;
}

function guessText(text: string, size: number, lying: boolean): { width: number; height: number } {
  const lines = text.split('\n');
  const long = Math.max(size, Math.max(...lines.map(({ length }) => length)) * size * 0.5);
  const high = lines.length * size * 1.2;
  return lying ? { width: long, height: high } : { width: high, height: long };
}

const ALL: readonly Corner[] = ['nw', 'n', 'ne', 'e', 'se', 's', 'sw', 'w'];

/** The handles by which an element can be pulled. */
export function handlesOf(element: LabelElement): readonly Handle[] {
  if (element.type === 'line') return ['start', 'end'];
  if (element.type !== 'barcode') return ALL;
  return SYMBOLOGY_FACTS[element.symbology].kind === 'fixed' ? [] : ['e', 'se', 's'];
}

/** The handles of the frame around several selected elements. */
export const CORNERS = ['nw', 'ne', 'se', 'sw'] as const satisfies readonly Corner[];

export function pointOf(handle: Handle, element: LabelElement, frame: Box): { x: number; y: number } {
  if (element.type === 'line' && handle === 'start') return { x: element.x, y: element.y };
  if (element.type === 'line' && handle === 'end') return { x: element.x2, y: element.y2 };
  return cornerOf(handle, frame);
}

export function cornerOf(handle: Handle, frame: Box): { x: number; y: number } {
  const middle = { x: frame.x + frame.width / 2, y: frame.y + frame.height / 2 };
  return {
    x: handle.includes('w') ? frame.x : handle.includes('e') ? frame.x + frame.width : middle.x,
    y: handle.includes('n') ? frame.y : handle.includes('s') ? frame.y + frame.height : middle.y,
  };
}

/** The frame after one handle has been moved. No side gets shorter than `LEAST`. */
export function pulled(frame: Box, handle: Corner, dx: number, dy: number): Box {
  const left = handle.includes('w') ? Math.min(frame.x + dx, frame.x + frame.width - LEAST) : frame.x;
  const top = handle.includes('n') ? Math.min(frame.y + dy, frame.y + frame.height - LEAST) : frame.y;
  const right = frame.x + Math.max(handle.includes('e') ? frame.width + dx : frame.width, LEAST);
  const bottom = frame.y + Math.max(handle.includes('s') ? frame.height + dy : frame.height, LEAST);
  return { x: left, y: top, width: right - left, height: bottom - top };
}

/** As `pulled`, but a corner keeps the proportions of the frame. */
function shaped(frame: Box, handle: Corner, dx: number, dy: number): Box {
  const free = pulled(frame, handle, dx, dy);
  if (handle.length === 1) return free;
  const scale = Math.max(free.width / frame.width, free.height / frame.height);
  const [width, height] = [frame.width * scale, frame.height * scale];
  return {
    x: handle.includes('w') ? frame.x + frame.width - width : frame.x,
    y: handle.includes('n') ? frame.y + frame.height - height : frame.y,
    width,
    height,
  };
}

/**
 * The element after one of its handles has been pulled.
 * @param frame the element's frame when the pull began
 * @param dpi the resolution at which a barcode's modules are whole dots
 */
export function resized(
  element: LabelElement,
  frame: Box,
  handle: Handle,
  by: { dx: number; dy: number },
  dpi: number,
): LabelElement {
  const { dx, dy } = by;
  if (handle === 'start') return changed(element, { x: within(element.x + dx), y: within(element.y + dy) });
  if (handle === 'end') {
    return element.type === 'line'
      ? { ...element, x2: within(element.x2 + dx), y2: within(element.y2 + dy) }
      : element;
  }
  const next = element.type === 'image' ? shaped(frame, handle, dx, dy) : pulled(frame, handle, dx, dy);
  if (element.type === 'barcode') return resizedSymbol(element, frame, next, dpi);
  const side = (mm: number) => within(mm, LEAST);
  const across = /[ew]/.test(handle) ? { width: side(next.width) } : {};
  const down = /[ns]/.test(handle) ? { height: side(next.height) } : {};
  // A text without a width gets one. Its `x` then is the left edge, and no longer the point by which it was aligned.
  const left = /w/.test(handle) || ('width' in across && !hasOwnWidth(element)) ? { x: within(next.x) } : {};
  const top = /n/.test(handle) ? { y: within(next.y) } : {};
  return changed(element, { ...left, ...top, ...across, ...down });
}

function hasOwnWidth(element: LabelElement): boolean {
  return 'width' in element && element.width !== undefined;
}

type Barcode = Extract<LabelElement, { type: 'barcode' }>;

/** Changes the height of the bars; in the other direction, the width of the symbol's space, or of its modules if it has none. */
function resizedSymbol(element: Barcode, from: Box, to: Box, dpi: number): LabelElement {
  const [along, alongBefore] = upright(element) ? [to.width, from.width] : [to.height, from.height];
  const [high, highBefore] = upright(element) ? [to.height, from.height] : [to.width, from.width];
  const members: Record<string, number> = {};
  const { kind } = SYMBOLOGY_FACTS[element.symbology];
  if (kind === 'fixed') return element;
  if (kind === 'bars') {
    if (high !== highBefore) members['height'] = within((element.height ?? 10) + high - highBefore, LEAST);
    if (along !== alongBefore) {
      if (element.width !== undefined) members['width'] = within(along, LEAST);
      else Object.assign(members, scaledModule(element, along / alongBefore, dpi));
    }
  } else {
    const scale =
      Math.abs(along - alongBefore) >= Math.abs(high - highBefore) ? along / alongBefore : high / highBefore;
    if (scale !== 1) Object.assign(members, scaledModule(element, scale, dpi));
  }
  return changed(element, members);
}

/** The member that makes modules about `scale` times as wide as before, in whole dots. */
export function scaledModule(element: Barcode, scale: number, dpi: number): Record<string, number> {
  const { moduleDots, module = MODULE } = element;
  const before = moduleDots ?? Math.max(1, Math.round((module * dpi) / 25.4));
  const after = Math.min(100, Math.max(1, Math.round(before * scale)));
  if (after === before) return {};
  return moduleDots === undefined ? { module: rounded((after * 25.4) / dpi) } : { moduleDots: after };
}

type Label = { readonly width: number; readonly height: number };

/** The shortest move that puts the frame on the label. Along a side for which the label has no room, there is none. */
export function onLabel(frame: Box, label: Label): { dx: number; dy: number } {
  const by = (from: number, side: number, room: number) =>
    side > room ? 0 : Math.min(Math.max(from, 0), room - side) - from;
  return { dx: by(frame.x, frame.width, label.width), dy: by(frame.y, frame.height, label.height) };
}

/**
 * Turns the element by 90° clockwise about the middle of its frame.
 * @param label the element is kept on this label; left out: it may leave the label
 */
export function turned(element: LabelElement, frame: Box, label?: Label): LabelElement {
  const next = turnedAboutMiddle(element, frame);
  if (label === undefined) return next;
  const middle = { x: frame.x + frame.width / 2, y: frame.y + frame.height / 2 };
  const after = {
    x: middle.x - frame.height / 2,
    y: middle.y - frame.width / 2,
    width: frame.height,
    height: frame.width,
  };
  const { dx, dy } = onLabel(after, label);
  return moved(next, dx, dy);
}

function turnedAboutMiddle(element: LabelElement, frame: Box): LabelElement {
  const middle = { x: frame.x + frame.width / 2, y: frame.y + frame.height / 2 };
  if (element.type === 'line') {
    const turn = (x: number, y: number) => ({
      x: within(middle.x - (y - middle.y)),
      y: within(middle.y + (x - middle.x)),
    });
    const [start, end] = [turn(element.x, element.y), turn(element.x2, element.y2)];
    return { ...element, x: start.x, y: start.y, x2: end.x, y2: end.y };
  }
  const x = within(middle.x - frame.height / 2);
  const y = within(middle.y - frame.width / 2);
  if (element.type === 'box' || element.type === 'ellipse') {
    return { ...element, x, y, width: element.height, height: element.width };
  }
  const rotation = quarter(element.rotation ?? 0);
  if (element.type === 'barcode') return { ...element, x, y, rotation };
  if (element.type === 'image') {
    return { ...element, x, y, width: element.height, height: element.width, rotation };
  }
  const { width, height } = element;
  if (width === undefined && height === undefined) {
    const after = { x, y, width: frame.height, height: frame.width };
    return { ...element, ...hungAt(after, rotation, element.align), rotation };
  }
  const sides = { width: frame.height, height: frame.width };
  return changed(element, {
    rotation,
    x,
    y,
    width: within(sides.width, LEAST, LIMITS.labelSide),
    height: within(sides.height, LEAST, LIMITS.labelSide),
  });
}

/** The point `x`, `y` of a text without a box whose ink is to fill this frame. */
function hungAt(
  { x, y, width, height }: Box,
  rotation: 0 | 90 | 180 | 270,
  align: 'left' | 'center' | 'right' = 'left',
): { x: number; y: number } {
  const along = { left: 0, center: 0.5, right: 1 }[align];
  const share = rotation < 180 ? along : 1 - along;
  if (rotation % 180 === 0) return { x: within(x + share * width), y: within(y) };
  return { x: within(x), y: within(y + share * height) };
}

function quarter(rotation: 0 | 90 | 180 | 270): 0 | 90 | 180 | 270 {
  return rotation === 0 ? 90 : rotation === 90 ? 180 : rotation === 180 ? 270 : 0;
}
