/**
 * How wide text is.
 *
 * Two ways. Plain text in the condensed face is the sum of its characters' advances, as a label printer sets
 * its font 0 (no kerning, no ligatures): a table look-up, and what lets a native label be laid out without a
 * canvas. Everything else is shaped by the canvas.
 */
import { createCanvas, type SKRSContext2D } from '@napi-rs/canvas';
import { canvasFont, type Face } from './fonts.ts';

const UNITS = 1000;

let shared: SKRSContext2D | undefined;
let advances: Float64Array | undefined;

function context(): SKRSContext2D {
  shared ??= createCanvas(1, 1).getContext('2d');
  return shared;
}

/** Printable ASCII and Latin-1 without no-break space and soft hyphen: what every font 0 is sure to have. */
function isPlainCode(code: number): boolean {
  return (code >= 0x20 && code <= 0x7e) || (code >= 0xa1 && code <= 0xff && code !== 0xad);
}

/** Text that a printer's own font sets as we measured it. */
export function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (!isPlainCode(text.charCodeAt(at))) return false;
  return true;
}

/** Sets a context up for a line of text; call it before `measureText` and `fillText` alike. */
export function setTextStyle(on: SKRSContext2D, face: Face, size: number, text: string): void {
  const asPrinter = face === 'condensed' && isPlain(text);
  on.font = canvasFont(face, size);
  on.fontKerning = asPrinter ? 'none' : 'normal';
  on.fontVariantLigatures = asPrinter ? 'none' : 'normal';
  on.direction = startsRightToLeft(text) ? 'rtl' : 'ltr';
  on.textAlign = 'left';
  on.textBaseline = 'alphabetic';
}

const STRONG = /[\p{L}]/u;
const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}]/u;

/** The paragraph's direction is that of its first letter (Unicode bidirectional algorithm, rules P2 and P3). */
export function startsRightToLeft(text: string): boolean {
  const first = STRONG.exec(text);
  return first !== null && RIGHT_TO_LEFT.test(first[0]);
}

function advanceTable(): Float64Array {
  if (advances === undefined) {
    advances = new Float64Array(256);
    const on = context();
    for (let code = 0; code < 256; code++) {
      if (!isPlainCode(code)) continue;
      const char = String.fromCharCode(code);
      setTextStyle(on, 'condensed', UNITS, char);
      advances[code] = on.measureText(char).width / UNITS;
    }
  }
  return advances;
}

/** The advance of one line of text, in ems. */
export function measureLine(face: Face, text: string): number {
  if (face === 'condensed' && isPlain(text)) {
    const table = advanceTable();
    let width = 0;
    for (let at = 0; at < text.length; at++) width += table[text.charCodeAt(at)] ?? 0;
    return width;
  }
  const on = context();
  setTextStyle(on, face, UNITS, text);
  return on.measureText(text).width / UNITS;
}

/** How far the ink of a line reaches from the start of its baseline, in whole units of `size`. */
export function inkBounds(
  face: Face,
  size: number,
  text: string,
): { left: number; right: number; up: number; down: number } {
  const on = context();
  setTextStyle(on, face, size, text);
  const metrics = on.measureText(text);
  // One more on each side: hinting and antialiasing reach past the outline.
  return {
    left: Math.ceil(metrics.actualBoundingBoxLeft) + 1,
    right: Math.ceil(metrics.actualBoundingBoxRight) + 1,
    up: Math.ceil(metrics.actualBoundingBoxAscent) + 1,
    down: Math.ceil(metrics.actualBoundingBoxDescent) + 1,
  };
}
