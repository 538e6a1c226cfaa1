/** How wide a text is on a terminal, and where it is broken to fit. */

const GRAPHEMES = new Intl.Segmenter();
/** East Asian wide and full-width characters, and emoji, take two columns. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

function graphemes(text: string): string[] {
  return Array.from(GRAPHEMES.segment(text), ({ segment }) => segment);
}

const columnsOf = (grapheme: string) => (WIDE.test(grapheme) ? 2 : 1);

/** In columns. */
export function widthOf(text: string): number {
  return graphemes(text).reduce((sum, grapheme) => sum + columnsOf(grapheme), 0);
}

/** Lines of at most `width` columns, broken at blanks; a word that is wider is broken where it has to be. */
export function wrapped(text: string, width: number): string[] {
  if (widthOf(text) <= width) return [text];
  const lines = [''];
  let used = 0;
  const add = (piece: string, wide: number) => {
    lines.push(`${lines.pop() ?? ''}${piece}`);
    used += wide;
  };
  const next = () => {
    lines.push('');
    used = 0;
  };
  for (const word of text.split(' ')) {
    const wide = widthOf(word);
    if (used > 0 && used + 1 + wide <= width) {
      add(` ${word}`, wide + 1);
      continue;
    }
    if (used > 0) next();
    for (const grapheme of graphemes(word)) {
      if (used + columnsOf(grapheme) > width) next();
      add(grapheme, columnsOf(grapheme));
    }
  }
  return lines;
}
