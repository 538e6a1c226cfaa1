/** New elements. Each prints something, and lies near the middle of the label, at a free place if there is one. */
import { type ElementType, type LabelElement, moved, within } from './document.ts';
import { type Box, frameOf, onLabel } from './frame.ts';
import { SYMBOLOGY_FACTS } from './symbologies.ts';

type Size = { width: number; height: number };

/** mm: the gap between a new element and others, the least side of a picture, and the step by which it moves off what it covers. */
const [GAP, LEAST, BESIDE] = [1, 0.5, 2];
const MOST_STEPS = 100;
/** mm: the width of the example's barcode with usual modules, and with narrow ones; and the height of the text line below it. */
const [WIDE, NARROW, LINE] = [50, 34, 5];
/** mm: the narrow modules that a barcode gets on a label that is not as wide as the example. */
const NARROW_MODULE = 0.25;

/** @param text the content of a new text */
export function newElement(type: Exclude<ElementType, 'image'>, label: Size, text: string): LabelElement {
  const at = (width: number, height: number) => ({
    x: within((label.width - width) / 2),
    y: within((label.height - height) / 2),
  });
  const side = (part: number, most: number) => within(Math.min(most, label.width * part, label.height * 0.8));
  switch (type) {
    case 'text': {
      const size = side(0.12, 4);
      const width = within(label.width * 0.6);
      return { type, ...at(width, size * 1.2), width, height: within(size * 1.2), text, size };
    }
    case 'barcode': {
      const height = side(0.5, 10);
      const { example } = SYMBOLOGY_FACTS.code128;
      const narrow = label.width < WIDE + 2 * GAP;
      const bars = { type, symbology: 'code128', value: example, height, hri: 'below' } as const;
      if (!narrow) return { ...bars, ...at(WIDE, height) };
      return { ...bars, ...at(NARROW, height), module: NARROW_MODULE };
    }
    case 'box':
    case 'ellipse': {
      const [width, height] = [side(0.4, 20), side(0.3, 10)];
      return { type, ...at(width, height), width, height };
    }
    case 'line': {
      const { x, y } = at(label.width * 0.6, 0);
      return { type, x, y, x2: within(x + label.width * 0.6), y2: y };
    }
  }
}

/**
 * @param data a picture file, in base64
 * @param shape the picture's width and height, in any unit
 */
export function newPicture(data: string, label: Size, shape: Size): LabelElement {
  const scale = Math.min(
    Math.min(20, label.width * 0.4) / shape.width,
    Math.min(20, label.height * 0.6) / shape.height,
  );
  const [width, height] = [within(shape.width * scale, LEAST), within(shape.height * scale, LEAST)];
  const [x, y] = [within((label.width - width) / 2), within((label.height - height) / 2)];
  return { type: 'image', x, y, width, height, data };
}

/** Whether other elements may lie within this one, because it is an empty frame. */
export function isOpen(element: LabelElement): boolean {
  return (element.type === 'box' || element.type === 'ellipse') && element.filled !== true;
}

/**
 * The element at the nearest place where it is on the label and covers no other element. If there is no such place, it is moved
 * by steps until no other element has its corner there.
 */
export function placedFreely(element: LabelElement, others: readonly Box[], label: Size): LabelElement {
  const frame = newFrame(element);
  const xs = [frame.x, ...others.flatMap(({ x, width }) => [x - GAP - frame.width, x, x + width + GAP])];
  const ys = [frame.y, ...others.flatMap(({ y, height }) => [y - GAP - frame.height, y, y + height + GAP])];
  let best: { dx: number; dy: number; far: number } | undefined;
  for (const x of xs) {
    for (const y of ys) {
      const far = Math.hypot(x - frame.x, y - frame.y);
      if (best !== undefined && best.far <= far) continue;
      const there = { ...frame, x, y };
      const { dx, dy } = onLabel(there, label);
      const isOn = Math.abs(dx) < 0.001 && Math.abs(dy) < 0.001;
      if (isOn && !others.some((other) => overlap(there, other)))
        best = { dx: x - frame.x, dy: y - frame.y, far };
    }
  }
  if (best !== undefined) return moved(element, best.dx, best.dy);
  let step = 0;
  const isTaken = (by: number) =>
    others.some(({ x, y }) => Math.hypot(x - frame.x - by, y - frame.y - by) < GAP);
  while (step < MOST_STEPS && isTaken(step * BESIDE)) step += 1;
  return moved(element, step * BESIDE, step * BESIDE);
}

/** The frame of an element that has not been drawn yet. */
function newFrame(element: LabelElement): Box {
  const frame = frameOf(element);
  if (element.type !== 'barcode') return frame;
  const width = element.module === undefined ? WIDE : NARROW;
  return { ...frame, width, height: frame.height + LINE };
}

function overlap(one: Box, other: Box): boolean {
  return (
    one.x < other.x + other.width &&
    other.x < one.x + one.width &&
    one.y < other.y + other.height &&
    other.y < one.y + one.height
  );
}

type Barcode = Extract<LabelElement, { type: 'barcode' }>;

/** Changes the symbology: drops all options but a `ratio` that both have, gives bars a height, and replaces the example value. */
export function withSymbology(element: Barcode, symbology: Barcode['symbology']): Barcode {
  const [before, after] = [SYMBOLOGY_FACTS[element.symbology], SYMBOLOGY_FACTS[symbology]];
  const gone: ReadonlySet<string> = new Set([
    ...before.options.filter((option) => option !== 'ratio' || !after.options.includes(option)),
    ...(after.kind === 'bars' ? [] : ['height', 'hri']),
  ]);
  const rest = Object.fromEntries(Object.entries(element).filter(([name]) => !gone.has(name)));
  const { type, x, y } = element;
  return {
    ...rest,
    ...{ type, x, y, symbology },
    value: element.value === before.example ? after.example : element.value,
    ...(after.kind === 'bars' && element.height === undefined && { height: 10 }),
  };
}
