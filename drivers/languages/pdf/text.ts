/**
 * Makes the text in a PDF searchable and copyable.
 *
 * The drawing library records the character of each glyph, but nothing for glyphs that stand for several characters or for a
 * part of one. So Arabic would be copied in pieces, and Devanagari with holes. Lines with such glyphs are marked while they are
 * drawn, and the content stream is corrected afterwards: the visible glyphs are declared to be no text (an empty `/ActualText`,
 * ISO 32000-1 §14.9.4), and the text follows in an invisible font (Type 3, §9.6.5). Its characters are in their order on the
 * page, as PDF readers expect.
 */
import type { SKRSContext2D } from '@napi-rs/canvas';
import type { TextItem } from '../../../src/render/display-list.ts';
import { measureLine, startsRightToLeft } from '../../../src/render/text/measure.ts';

/** A text in scripts in which each glyph is one character, apart from the ligatures of Latin. */
const GLYPH_BY_GLYPH =
  /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Hebrew}\p{Script=Common}]*$/u;
const LIGATURE = /f[fijlt]/;
const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}]/u;

/**
 * Widths of the marks at a line's beginning and end. A mark is a rectangle that is narrower than any element; it is taken out
 * again. The height of the mark at the end is the line's number times `COUNT`.
 */
const BEGIN = 1 / 4096;
const END = 1 / 8192;
const COUNT = 1 / 4096;
const MARK = /^0 0 (\.000244140\d*|\.000122070\d*) ([\d.]+) re\nf\n/gm;

/** The number of codes in a simple font, without code 0. */
const CODES = 255;

interface Line {
  /** The text as it stands on the page, from left to right. */
  readonly text: string;
  readonly size: number;
  readonly width: number;
}

/** The lines of one document. */
export class PdfText {
  readonly #lines: Line[] = [];
  readonly #codes = new Map<string, number>();

  /** Draws a line of text at the context's origin. If the glyphs would not give the text back, the line is marked. */
  draw(context: SKRSContext2D, item: TextItem, draw: () => void): void {
    const { text, face, size, spacing } = item;
    const plain = GLYPH_BY_GLYPH.test(text) && (face === 'condensed' || !LIGATURE.test(text));
    if (plain) {
      draw();
      return;
    }
    const width = measureLine(face, text, spacing) * size;
    const index = this.#lines.push({ text: visualOrder(text), size, width });
    context.fillRect(0, 0, BEGIN, index * COUNT);
    draw();
    context.fillRect(0, 0, END, index * COUNT);
  }

  /** Whether no line was marked. */
  get empty(): boolean {
    return this.#lines.length === 0;
  }

  /** A page's content stream with its marks replaced. Undefined: it has no marks. */
  content(stream: string): string | undefined {
    let marks = 0;
    const content = stream.replace(MARK, (_, side: string, height: string) => {
      marks += 1;
      if (Math.abs(Number(side) - BEGIN) < BEGIN / 8) return '/Span <</ActualText <FEFF>>> BDC\n';
      const line = this.#lines[Math.round(Number(height) / COUNT) - 1];
      return `EMC\n${line === undefined ? '' : this.#shown(line)}`;
    });
    return marks === 0 ? undefined : content;
  }

  /** The invisible fonts that `content` used, as PDF objects: `/PT0`, `/PT1`, … */
  fonts(): { readonly toUnicode: string; readonly font: (toUnicode: number, glyph: number) => string }[] {
    const chars = [...this.#codes.keys()];
    return Array.from({ length: Math.ceil(chars.length / CODES) }, (_, index) => {
      const own = chars.slice(index * CODES, (index + 1) * CODES);
      const entries = own.map((char, at) => `<${hex(at + 1)}> <${utf16(char)}>`);
      return {
        toUnicode: toUnicode(entries),
        font: (map, glyph) =>
          `<</Type /Font /Subtype /Type3 /FontBBox [0 0 1000 1000] /FontMatrix [.001 0 0 .001 0 0]\n` +
          `/FirstChar 1 /LastChar ${own.length} /Widths [${own.map(() => 1000).join(' ')}]\n` +
          `/Encoding <</Type /Encoding /Differences [1 ${own.map(() => '/n').join(' ')}]>>\n` +
          `/CharProcs <</n ${glyph} 0 R>> /Resources <<>> /ToUnicode ${map} 0 R>>`,
      };
    });
  }

  /** The line in the invisible fonts, as wide as the visible line. */
  #shown({ text, size, width }: Line): string {
    const chars = Array.from(text);
    const stretch = chars.length === 0 ? 100 : (100 * width) / (size * chars.length);
    let shown = '';
    let font = -1;
    let run = '';
    const end = () => {
      if (run !== '') shown += `<${run}> Tj\n`;
      run = '';
    };
    for (const char of chars) {
      const code = this.#code(char);
      if (Math.floor(code / CODES) !== font) {
        end();
        font = Math.floor(code / CODES);
        shown += `/PT${font} ${size} Tf\n`;
      }
      run += hex((code % CODES) + 1);
    }
    end();
    return `BT\n${stretch.toFixed(4)} Tz\n1 0 0 -1 0 0 Tm\n${shown}100 Tz\nET\n`;
  }

  #code(char: string): number {
    const known = this.#codes.get(char) ?? this.#codes.size;
    this.#codes.set(char, known);
    return known;
  }
}

/**
 * A line's characters in visual order, from left to right. The characters of right-to-left words are
 * reversed, and consecutive words of one direction are ordered in that direction. On the lines of labels this
 * gives the same as the Unicode bidirectional algorithm.
 */
function visualOrder(text: string): string {
  if (!RIGHT_TO_LEFT.test(text)) return text;
  const base = startsRightToLeft(text);
  const runs: { text: string; rtl: boolean }[] = [];
  for (const part of text.split(/( +)/)) {
    const before = runs.at(-1);
    const rtl = part.trim() === '' ? (before?.rtl ?? base) : RIGHT_TO_LEFT.test(part);
    if (before?.rtl === rtl) before.text += part;
    else {
      // Blanks between words of two directions have the paragraph's direction.
      const blanks = before !== undefined && before.rtl !== base ? blanksAtEnd(before.text) : '';
      if (before !== undefined) before.text = before.text.slice(0, before.text.length - blanks.length);
      if (blanks !== '' && rtl !== base) runs.push({ text: blanks, rtl: base });
      runs.push({ text: (rtl === base ? blanks : '') + part, rtl });
    }
  }
  const ordered = base ? runs.toReversed() : runs;
  return ordered.map((run) => (run.rtl ? Array.from(run.text).reverse().join('') : run.text)).join('');
}

function hex(code: number): string {
  return code.toString(16).toUpperCase().padStart(2, '0');
}

function utf16(char: string): string {
  return Array.from({ length: char.length }, (_, at) =>
    char.charCodeAt(at).toString(16).toUpperCase().padStart(4, '0'),
  ).join('');
}

/** At most a hundred entries a section (ISO 32000-1 §9.10.3, Adobe's note 5411). */
function toUnicode(entries: readonly string[]): string {
  const sections = Array.from({ length: Math.ceil(entries.length / 100) }, (_, index) => {
    const some = entries.slice(index * 100, (index + 1) * 100);
    return `${some.length} beginbfchar\n${some.join('\n')}\nendbfchar\n`;
  });
  return `/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap
/CIDSystemInfo <</Registry (Adobe) /Ordering (UCS) /Supplement 0>> def
/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def
1 begincodespacerange\n<00> <FF>\nendcodespacerange
${sections.join('')}endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend`;
}

function blanksAtEnd(text: string): string {
  let end = text.length;
  while (text[end - 1] === ' ') end--;
  return text.slice(end);
}
