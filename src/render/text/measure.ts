/**
 * Measures and draws a line of text.
 *
 * Plain text in the condensed face is set as a label printer sets its font 0. Its widths come from a table (`font0.ts`), so
 * that a native label can be laid out without a canvas. All other text is shaped by the canvas.
 */
import { createCanvas, type SKRSContext2D } from '@napi-rs/canvas';
import type { Face } from './font-face.ts';
import { drawPlain, isPlain, plainAdvance } from './font0.ts';
import { canvasFont } from './fonts.ts';

const UNITS = 1000;

interface SetLine {
  readonly face: Face;
  readonly size: number;
  readonly text: string;
  /** Added between characters, ems. */
  readonly spacing?: number;
}

let shared: SKRSContext2D | undefined;

function context(): SKRSContext2D {
  shared ??= createCanvas(1, 1).getContext('2d');
  return shared;
}

/** Prepares a context to shape a line of text. */
function setTextStyle(on: SKRSContext2D, { face, size, text, spacing = 0 }: SetLine): void {
  on.font = canvasFont(face, size);
  on.direction = startsRightToLeft(text) ? 'rtl' : 'ltr';
  on.textAlign = 'left';
  on.textBaseline = 'alphabetic';
  on.letterSpacing = `${spacing * size}px`;
}

const JOINED = /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Devanagari}]/u;

/** Text of scripts whose letters join gets no spacing. */
function spacingOf(text: string, spacing: number): number {
  return spacing !== 0 && JOINED.test(text) ? 0 : spacing;
}

const STRONG = /[\p{L}]/u;
const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}]/u;

/** The paragraph's direction is that of its first letter (Unicode bidirectional algorithm, rules P2 and P3). */
export function startsRightToLeft(text: string): boolean {
  const first = STRONG.exec(text);
  return first !== null && RIGHT_TO_LEFT.test(first[0]);
}

/** How far the ink of a line reaches from the start of its baseline, in whole units of its size. */
export interface InkBounds {
  readonly left: number;
  readonly right: number;
  readonly up: number;
  readonly down: number;
}

/** The ink and the advance of a line. */
type Shaped = InkBounds & { readonly advance: number };

/** How many lines of one element are remembered, because its layout asks twice for a line's advance, and then for its ink. */
const MOST_SHAPED = 64;
let remembered: { face: Face; apart: number; lines: Map<string, Shaped> } | undefined;

/** The ink and the advance of a line, ems. */
function shaped(face: Face, text: string, apart: number): Shaped {
  if (remembered?.face !== face || remembered.apart !== apart || remembered.lines.size === MOST_SHAPED)
    remembered = { face, apart, lines: new Map() };
  const known = remembered.lines.get(text);
  if (known !== undefined) return known;
  const on = context();
  setTextStyle(on, { face, size: UNITS, text, spacing: apart });
  const metrics = on.measureText(text);
  const line = {
    advance: metrics.width / UNITS - apart,
    left: metrics.actualBoundingBoxLeft / UNITS,
    right: metrics.actualBoundingBoxRight / UNITS,
    up: metrics.actualBoundingBoxAscent / UNITS,
    down: metrics.actualBoundingBoxDescent / UNITS,
  };
  remembered.lines.set(text, line);
  return line;
}

/** The advance of one line of text, in ems. There is no spacing after its last character. */
export function measureLine(face: Face, text: string, spacing = 0): number {
  if (text === '') return 0;
  const apart = spacingOf(text, spacing);
  if (face === 'condensed' && isPlain(text)) return plainAdvance(text) + apart * (text.length - 1);
  return shaped(face, text, apart).advance;
}

/** Measures the ink of a line, without drawing it. */
export function inkBounds(line: SetLine): InkBounds {
  const { face, size, text } = line;
  const spacing = spacingOf(text, line.spacing ?? 0);
  if (face === 'condensed' && isPlain(text)) {
    const reach = Math.ceil(size * 0.1) + 1;
    return {
      left: reach,
      right: Math.ceil(measureLine(face, text, spacing) * size) + reach,
      up: Math.ceil(size),
      down: Math.ceil(size * 0.3),
    };
  }
  const on = context();
  setTextStyle(on, { face, size, text, spacing });
  const metrics = on.measureText(text);
  return bounds({
    size,
    advance: metrics.width,
    left: metrics.actualBoundingBoxLeft,
    right: metrics.actualBoundingBoxRight,
    up: metrics.actualBoundingBoxAscent,
    down: metrics.actualBoundingBoxDescent,
  });
}

/**
 * The same as `inkBounds`, but for a difference of up to a dot. It is for a line whose advance has just been measured, so that
 * the line is not shaped again.
 */
export function inkReach(line: SetLine): InkBounds {
  const { face, size, text } = line;
  const spacing = spacingOf(text, line.spacing ?? 0);
  if (face === 'condensed' && isPlain(text)) return inkBounds(line);
  const { advance, left, right, up, down } = shaped(face, text, spacing);
  const dots = (ems: number) => ems * size;
  return bounds({
    size,
    advance: dots(advance + spacing),
    left: dots(left),
    right: dots(right),
    up: dots(up),
    down: dots(down),
  });
}

/** @param measured in units of its `size` */
function bounds(measured: Shaped & { readonly size: number }): InkBounds {
  // The library's version 1.1 does not exist for Windows. Before 1.1, the measured box covers only the text's first font. So on
  // Windows the ink is taken to reach at least this far.
  const ems = process.platform === 'win32' ? measured.size : 0;
  // One more on each side, because hinting and antialiasing reach past the outline.
  return {
    left: Math.ceil(Math.max(measured.left, 0.25 * ems)) + 1,
    right: Math.ceil(Math.max(measured.right, ems && measured.advance + 0.25 * ems)) + 1,
    up: Math.ceil(Math.max(measured.up, 1.3 * ems)) + 1,
    down: Math.ceil(Math.max(measured.down, 0.6 * ems)) + 1,
  };
}

/** How far a line's ink reaches up and down from its baseline, in whole units of its size, without the spare of `inkBounds`. */
export function inkHeight({ face, size, text, spacing = 0 }: SetLine): Pick<InkBounds, 'up' | 'down'> {
  const on = context();
  setTextStyle(on, { face, size, text, spacing: spacingOf(text, spacing) });
  const metrics = on.measureText(text);
  return {
    up: Math.ceil(metrics.actualBoundingBoxAscent),
    down: Math.ceil(metrics.actualBoundingBoxDescent),
  };
}

/** Draws a line of text with its baseline at the context's (x, y), in its fill style. */
export function drawLine(on: SKRSContext2D, line: SetLine, x: number, y: number): void {
  const { face, size, text } = line;
  const spacing = spacingOf(text, line.spacing ?? 0);
  if (face === 'condensed' && isPlain(text)) {
    drawPlain(on, text, size, x, y, spacing);
    return;
  }
  setTextStyle(on, { face, size, text, spacing });
  on.fillText(text, x, y);
}
