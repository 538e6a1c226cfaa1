/**
 * Lays out text in a box: its size, its lines, and their places.
 *
 * No text of a record is lost silently. Text that does not fit is made smaller (`shrink`), or broken and then made smaller
 * (`wrap`). If it would have to be smaller than is legible, that is an error. Only `clip`, which the template asks for, leaves
 * anything out, and then whole characters and whole lines.
 *
 * In every face the em box of a line reaches from 0.75 em above its baseline to 0.25 em below it, as in the printers' font 0.
 * Marks may reach out of it.
 */
import type { TextElement } from '../../contract/template.ts';
import type { Face } from './font-face.ts';
import { breakLines, fittingStart, type Measure } from './line-break.ts';
import { measureLine } from './measure.ts';

/** Text is never shrunk below this, mm; 1 mm is about 3 points. */
export const SMALLEST_TEXT = 1;
export const ASCENT = 0.75;

/**
 * The share of a box's width that text may fill. The rest is spare, because the widths of the printers' own fonts differ by up
 * to 2 % from what we measure.
 */
const SAFE = 0.97;

/**
 * The middle of capitals and figures is this far above the middle of the em box, ems. `middle` centres text by the former, so
 * that it looks centred, as far as there is room.
 */
const OPTICAL = 0.09;

export interface TextStyle {
  readonly face: Face;
  /** Between characters, ems. */
  readonly spacing: number;
  /** The em wanted, and the smallest allowed, whole dots. */
  readonly size: number;
  readonly smallest: number;
  /** Upright width and height of the box, dots. */
  readonly width: number | undefined;
  readonly height: number | undefined;
  readonly align: TextElement['align'];
  readonly valign: TextElement['valign'];
  readonly overflow: TextElement['overflow'];
  /** Upright width and height that `clip` may fill, dots. The label's edge may leave less than the box. */
  readonly room: { readonly width: number; readonly height: number };
  readonly lineSpacing: number;
  readonly maxLines: number | undefined;
}

interface PlacedLine {
  readonly text: string;
  /** Start of the baseline from the box's corner, upright, whole dots. */
  readonly x: number;
  readonly y: number;
  /** Advance, dots. */
  readonly width: number;
}

export interface TextBlock {
  readonly size: number;
  readonly lines: readonly PlacedLine[];
}

/**
 * The text as it can be drawn: letters are composed (NFC), line ends are \n, tabs are blanks, other controls
 * and lone surrogates show as U+FFFD.
 */
export function printable(text: string): string {
  if (!/[^\x20-\x7e]/.test(text)) return text;
  return text
    .toWellFormed()
    .normalize('NFC')
    .replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n')
    .replaceAll('\t', ' ')
    .replace(/[\0-\x09\x0b-\x1f\x7f-\x9f]/g, '\ufffd');
}

function measureOf({ face, spacing }: TextStyle): Measure {
  return (text) => measureLine(face, text, spacing);
}

function linesThatFit(style: TextStyle, size: number, height = style.height): number {
  const byHeight =
    height === undefined
      ? Number.POSITIVE_INFINITY
      : Math.floor((height / size - 1) / style.lineSpacing + 1 + 1e-9);
  return Math.max(Math.min(byHeight, style.maxLines ?? Number.POSITIVE_INFINITY), 0);
}

/** The lines at a size, or null when they do not fit. */
function attempt(style: TextStyle, paragraphs: readonly string[], size: number): string[] | null {
  const most = linesThatFit(style, size);
  const lines: string[] = [];
  const width = style.width === undefined ? Number.POSITIVE_INFINITY : (style.width * SAFE) / size;
  for (const paragraph of paragraphs) {
    if (style.overflow === 'wrap') lines.push(...breakLines(measureOf(style), paragraph, width, most));
    else if (measureOf(style)(paragraph) <= width) lines.push(paragraph);
    else return null;
    if (lines.length > most) return null;
  }
  return lines;
}

/** The size at which unbroken lines fit, calculated by proportion. */
function shrunk(style: TextStyle, paragraphs: readonly string[]): number {
  const widest = paragraphs.reduce((most, line) => Math.max(most, measureOf(style)(line)), 0);
  const byWidth = style.width === undefined || widest === 0 ? style.size : (style.width * SAFE) / widest;
  const byHeight =
    style.height === undefined
      ? style.size
      : style.height / (1 + (paragraphs.length - 1) * style.lineSpacing) + 1e-9;
  return Math.floor(Math.min(style.size, byWidth, byHeight));
}

function clipped(style: TextStyle, paragraphs: readonly string[]): string[] {
  const { width, height } = style.room;
  return paragraphs.slice(0, Math.max(1, linesThatFit(style, style.size, height))).map((line) => {
    if (measureOf(style)(line) * style.size <= width * SAFE) return line;
    const start = fittingStart(measureOf(style), line, (width * SAFE) / style.size);
    // If it is the label's edge that leaves no room, the first character stays, so that the edge is named as the reason.
    const byEdge = style.width === undefined || width < style.width;
    return byEdge || measureOf(style)(start) * style.size <= width * SAFE ? start : '';
  });
}

function settle(style: TextStyle, paragraphs: readonly string[]): { size: number; lines: string[] } | null {
  if (style.overflow === 'clip') return { size: style.size, lines: clipped(style, paragraphs) };
  const wanted = attempt(style, paragraphs, style.size);
  if (wanted !== null) return { size: style.size, lines: wanted };
  if (style.overflow === 'shrink') {
    const size = shrunk(style, paragraphs);
    const lines = size < style.smallest ? null : attempt(style, paragraphs, size);
    return lines === null ? null : { size, lines };
  }
  // Wrapped: a smaller size never fits worse, so the largest that fits is found by bisection.
  let best = attempt(style, paragraphs, style.smallest);
  if (best === null) return null;
  let low = style.smallest;
  let high = style.size - 1;
  while (low < high) {
    const size = Math.ceil((low + high) / 2);
    const lines = attempt(style, paragraphs, size);
    if (lines === null) high = size - 1;
    else [low, best] = [size, lines];
  }
  return { size: low, lines: best };
}

/**
 * Lays text out.
 * @param text as `printable` returns it
 * @returns null when it does not fit at the smallest size
 */
export function layoutText(style: TextStyle, text: string): TextBlock | null {
  const placed = settle(style, text.split('\n'));
  if (placed === null) return null;
  const { size, lines } = placed;
  const pitch = size * style.lineSpacing;
  const block = size + (lines.length - 1) * pitch;
  const spare = (style.height ?? block) - block;
  const middle = spare / 2 + Math.min(OPTICAL * size, Math.max(0, spare / 2));
  const top = style.valign === 'top' ? 0 : style.valign === 'middle' ? middle : spare;
  return {
    size,
    lines: lines.map((line, index) => {
      const width = measureOf(style)(line) * size;
      const room = (style.width ?? 0) - width;
      const x = style.align === 'left' ? 0 : style.align === 'center' ? room / 2 : room;
      return { text: line, x: Math.round(x), y: Math.round(top + index * pitch + size * ASCENT), width };
    }),
  };
}
