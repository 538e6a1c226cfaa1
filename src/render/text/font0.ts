/**
 * Knows the character widths of Zebra's scalable font 0 (^A0), and draws text of another face in these widths.
 *
 * Text that a printer sets itself has the printer's widths, and some of them are far from any other face's (the hyphen is more
 * than twice as wide as Roboto Condensed's). So the condensed face uses these widths: layout calculates with them, and where we
 * draw the text, each glyph of Roboto Condensed Bold is stretched to them. Text then breaks and ends at the same places,
 * whether it is native, a graphic, in a PDF or in a preview.
 *
 * The widths are those of the font that was made for the zebrash interpreter to match the printers' font.
 */
import type { SKRSContext2D } from '@napi-rs/canvas';
import { canvasFont } from './fonts.ts';

/** Widths of U+0020 to U+007E, thousandths of the em. */
const ASCII =
  '250 333 333 500 500 833 667 250 333 333 500 500 333 800 333 278 500 500 500 500 500 500 500 500 500 ' +
  '500 278 278 500 500 500 500 833 556 556 556 611 500 500 611 611 278 444 556 500 778 611 611 556 611 ' +
  '611 556 500 611 556 833 556 556 500 333 250 333 500 500 333 500 500 444 500 500 278 500 500 278 278 ' +
  '444 278 778 500 500 500 500 333 444 278 500 444 667 444 444 389 274 250 274 500 ';
/** Widths of U+00A1 to U+00FF, thousandths of the em. */
const LATIN_1 =
  '333 500 500 500 500 250 500 333 830 300 500 500 800 830 333 400 500 300 300 333 500 550 333 333 300 ' +
  '300 500 750 750 750 500 556 556 556 556 556 556 778 556 500 500 500 500 278 278 278 278 611 611 611 ' +
  '611 611 611 611 500 611 611 611 611 611 556 556 500 500 500 500 500 500 500 722 444 500 500 500 500 ' +
  '278 278 278 278 500 500 500 500 500 500 500 500 500 500 500 500 500 444 500 444 ';

const SOFT_HYPHEN = 0xad;

/** Advance by character code, ems; 0: some printer's font 0 may lack the character. */
const ADVANCES = new Float64Array(256);
for (const [first, widths] of [
  [0x20, ASCII],
  [0xa1, LATIN_1],
] as const) {
  for (const [index, width] of widths.trim().split(' ').entries())
    ADVANCES[first + index] = Number(width) / 1000;
}
ADVANCES[SOFT_HYPHEN] = 0;

/** Printable ASCII and Latin-1, without no-break space and soft hyphen. */
export function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (!((ADVANCES[text.charCodeAt(at)] ?? 0) > 0)) return false;
  return true;
}

/** The advance of plain text, ems. There is no kerning and there are no ligatures. */
export function plainAdvance(text: string): number {
  let width = 0;
  for (let at = 0; at < text.length; at++) width += ADVANCES[text.charCodeAt(at)] ?? 0;
  return width;
}

const own = new Map<string, number>();

/**
 * Draws plain text with its baseline at the context's (x, y), as wide as font 0 sets it.
 * @param spacing added between characters, ems
 */
export function drawPlain(
  context: SKRSContext2D,
  text: string,
  size: number,
  x: number,
  y: number,
  spacing = 0,
): void {
  const unit = 1000;
  context.textAlign = 'left';
  context.textBaseline = 'alphabetic';
  context.direction = 'ltr';
  context.letterSpacing = '0px';
  let at = x;
  for (const char of text) {
    let natural = own.get(char);
    if (natural === undefined) {
      context.font = canvasFont('condensed', unit);
      natural = context.measureText(char).width / unit;
      own.set(char, natural);
    }
    const advance = plainAdvance(char);
    if (char !== ' ') {
      context.save();
      context.font = canvasFont('condensed', size);
      context.translate(at, y);
      context.scale(advance / natural, 1);
      context.fillText(char, 0, 0);
      context.restore();
    }
    at += (advance + spacing) * size;
  }
}
