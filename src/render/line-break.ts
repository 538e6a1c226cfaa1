/**
 * Where a line may end: after a blank, after a hyphen, and between words or characters of scripts that are
 * written without blanks (Thai, Han, kana). Words come from ICU's dictionaries through Intl.Segmenter; the
 * rules are the common part of Unicode UAX 14, which Node does not offer.
 */

/** The advance of a text, ems. */
export type Measure = (text: string) => number;

const words = new Intl.Segmenter('und', { granularity: 'word' });
const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

const WITHOUT_BLANKS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const MAY_NOT_START =
  /^[\p{Pe}\p{Pf}\p{M}、。，．・：；！？!?,.:;%ーぁぃぅぇぉっゃゅょァィゥェォッャュョ々]/u;
const MAY_NOT_END = /[\p{Ps}\p{Pi}¥€£$#]$/u;

/** The user-perceived characters of a text. */
export function splitGraphemes(text: string): string[] {
  return Array.from(graphemes.segment(text), (part) => part.segment);
}

/** The pieces of a paragraph between which a line may end; together they are the paragraph. */
function breakable(text: string): string[] {
  const pieces: string[] = [];
  for (const { segment } of words.segment(text)) {
    const before = pieces.at(-1);
    const mayBreak =
      before !== undefined &&
      !/^\s/u.test(segment) &&
      !MAY_NOT_START.test(segment) &&
      !MAY_NOT_END.test(before) &&
      (/[\s\u200b]$/u.test(before) ||
        /\p{L}[-\u2010\u2013]$/u.test(before) ||
        WITHOUT_BLANKS.test(segment) ||
        (WITHOUT_BLANKS.test(before.at(-1) ?? '') && !/^[\u00a0\u2060]/u.test(segment)));
    if (before === undefined || mayBreak) pieces.push(segment);
    else pieces[pieces.length - 1] = before + segment;
  }
  return pieces;
}

/** The longest beginning of a text, in whole graphemes, that is no wider than `width` ems; at least one. */
export function fittingStart(measure: Measure, text: string, width: number): string {
  const parts = splitGraphemes(text);
  let low = 1;
  let high = parts.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (measure(parts.slice(0, middle).join('')) <= width) low = middle;
    else high = middle - 1;
  }
  return parts.slice(0, low).join('');
}

/**
 * Breaks one paragraph into lines no wider than `width` ems. Words wider than that are broken anywhere.
 * Blanks at a break are dropped.
 */
export function breakLines(measure: Measure, paragraph: string, width: number, most: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const piece of breakable(paragraph)) {
    if (lines.length > most) return lines;
    if (measure((line + piece).trimEnd()) <= width) {
      line += piece;
      continue;
    }
    if (line.trimEnd() !== '') lines.push(line.trimEnd());
    line = piece;
    while (measure(line.trimEnd()) > width && lines.length <= most) {
      const start = fittingStart(measure, line, width);
      if (start.length === line.length) break;
      lines.push(start);
      line = line.slice(start.length);
    }
  }
  lines.push(line.trimEnd());
  return lines;
}
