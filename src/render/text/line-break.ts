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
function splitGraphemes(text: string): string[] {
  return Array.from(graphemes.segment(text), (part) => part.segment);
}

/** Splits a paragraph into the pieces between which a line may end. */
function breakable(text: string): string[] {
  const pieces: string[] = [];
  let from = 0;
  /** The last characters of the piece before. They are enough to decide whether a line may end there. */
  let before = '';
  for (const { segment, index } of words.segment(text)) {
    const mayBreak =
      index > 0 &&
      !/^\s/u.test(segment) &&
      !MAY_NOT_START.test(segment) &&
      !MAY_NOT_END.test(before) &&
      (/[\s\u200b]$/u.test(before) ||
        /\p{L}[-\u2010\u2013]$/u.test(before) ||
        WITHOUT_BLANKS.test(segment) ||
        (WITHOUT_BLANKS.test(before.at(-1) ?? '') && !/^[\u00a0\u2060]/u.test(segment)));
    if (mayBreak) {
      pieces.push(text.slice(from, index));
      from = index;
    }
    before = text.slice(Math.max(0, index + segment.length - 4), index + segment.length);
  }
  if (from < text.length) pieces.push(text.slice(from));
  return pieces;
}

/**
 * How many parts from `from` on fit into a width together; at least one. The search starts at a guess, so that the measured
 * texts are about as long as a line, however long the whole text is.
 * @param guess the number expected; most lines have about as many parts as the line before
 */
function fitting(
  measure: Measure,
  parts: readonly string[],
  from: number,
  width: number,
  guess: number,
): number {
  const fits = (count: number) =>
    measure(
      parts
        .slice(from, from + count)
        .join('')
        .trimEnd(),
    ) <= width;
  const most = parts.length - from;
  let [low, high] = [1, Math.min(most, Math.max(1, guess))];
  // The first part is taken even if it does not fit, so that each line makes progress.
  if (high > 1 && !fits(high)) high -= 1;
  else {
    low = high;
    for (let step = 1; high < most; step *= 2) {
      high = Math.min(most, low + step);
      if (!fits(high)) {
        high -= 1;
        break;
      }
      low = high;
    }
  }
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The longest beginning of a text, in whole graphemes, that is no wider than `width` ems; at least one. */
export function fittingStart(measure: Measure, text: string, width: number): string {
  const parts = splitGraphemes(text);
  return parts.slice(0, fitting(measure, parts, 0, width, 16)).join('');
}

/**
 * Breaks one paragraph into lines no wider than `width` ems. Words wider than that are broken anywhere.
 * Blanks at a break are dropped.
 * @param most how many lines are wanted; breaking stops once there are more
 */
export function breakLines(measure: Measure, paragraph: string, width: number, most: number): string[] {
  const lines: string[] = [];
  const pieces = breakable(paragraph);
  let guess = 8;
  for (let at = 0; at < pieces.length && lines.length <= most; ) {
    const count = fitting(measure, pieces, at, width, guess);
    const line = pieces
      .slice(at, at + count)
      .join('')
      .trimEnd();
    if (count > 1 || measure(line) <= width) {
      // If only blanks stand before a word that is wider than the line, they make no line of their own.
      if (line !== '' || at + count === pieces.length) lines.push(line);
      at += count;
      guess = count;
      continue;
    }
    const parts = splitGraphemes(pieces[at] ?? '');
    let from = 0;
    let broken = 8;
    while (lines.length <= most) {
      broken = fitting(measure, parts, from, width, broken);
      if (from + broken >= parts.length) break;
      lines.push(parts.slice(from, from + broken).join(''));
      from += broken;
    }
    // The rest of the word begins the next line.
    const rest = parts.slice(from).join('');
    pieces[at] = rest;
    if (measure(rest.trimEnd()) <= width) continue;
    lines.push(rest.trimEnd());
    at += 1;
  }
  return lines.length === 0 ? [''] : lines;
}
