/**
 * Decides which SVG may be drawn: one that refers to nothing outside, and whose cost is known beforehand.
 *
 * The drawing library would follow references, set text in the host's fonts and expand repeated elements many times over, and
 * it cannot be stopped once it has begun. So the SVG's text is checked first. Anything that could hide a reference (entities,
 * other encodings) is refused, and the other elements are counted.
 */

import { because } from '../../contract/reason.ts';
import { PictureFault } from './picture-fault.ts';

/** Elements that load files, run scripts, use the host's fonts, repeat others, or take minutes to draw. */
const REFUSED: ReadonlySet<string> = new Set(
  'script foreignobject text image use a set iframe audio video filter mask pattern marker'.split(' '),
);
const REFUSED_FAMILY = /^(?:animate|fe[a-z])/;
const ELEMENT = /<(?:[\w-]+:)?([\w-]+)/g;
const REFERENCE = /\b(?:href|src)\s*=\s*(?!["']#)/i;
const URL = /\burl\s*\(\s*["']?(?!#)/i;

/** The most elements of one picture, and how deep they may be nested. */
const MOST_ELEMENTS = 5_000;
const DEEPEST = 100;
/** The most elements of a picture with dashed lines, because each line may have a million dashes. */
const MOST_DASHED = 100;
/**
 * The most characters of outlines: of all outlines in a picture that only fills them, of all in a picture that strokes any, and
 * of a single outline in the latter. If its curves cross each other, a stroked outline of 100,000 characters takes the drawing
 * library 6 s and 600 MB, and one of 30,000 up to 0.7 s.
 */
const MOST_FILLED = 400_000;
const MOST_STROKED = 100_000;
const LONGEST_STROKED = 30_000;
const OUTLINE = /\s(?:d|points)\s*=\s*(?:"([^"]*)"|'([^']*)')/i;
const STROKE = /\bstroke\s*[:=]\s{0,9}["']?(\w{0,9})/gi;
/** As how many more elements a transparent or clipped one counts; and how deep these may nest, because each needs a picture. */
const LAYER = 4;
const DEEPEST_LAYERS = 10;

/**
 * Checks an SVG, and returns how many elements may paint one of its dots.
 * @throws PictureFault: the SVG is refused
 */
export function svgElements(bytes: Uint8Array): number {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new PictureFault(because('picture-kind', {}));
  }
  const body = text.replace(/^\s*(?:<\?xml\s[^?]*\?>\s*)?(?:<!--[\s\S]*?-->\s*)*/, '');
  if (!/^<svg[\s>]/.test(body)) throw new PictureFault(because('picture-kind', {}));
  for (const [, element = ''] of body.matchAll(ELEMENT)) {
    const name = element.toLowerCase();
    if (REFUSED.has(name) || REFUSED_FAMILY.test(name))
      throw new PictureFault(because('svg-element', { element: `<${element}>` }));
  }
  if (/<!DOCTYPE|<!ENTITY|<!\[CDATA|<\?|@import|@font-face/i.test(body) || /\\/.test(body)) {
    throw new PictureFault(because('svg-declarations', {}));
  }
  if (/&(?!(?:amp|lt|gt|quot|apos);)/.test(body)) throw new PictureFault(because('svg-references', {}));
  if (REFERENCE.test(body) || URL.test(body)) throw new PictureFault(because('svg-refers', {}));
  return elementsIn(body);
}

/** Counts, in one pass, what is to be drawn. */
function elementsIn(svg: string): number {
  let elements = 0;
  /** For each open element, whether it is a layer (transparent or clipped). */
  const open: boolean[] = [];
  let layers = 0;
  let inClip = 0;
  let dashed = false;
  const stroked = isStroked(svg);
  const mostOutlines = stroked ? MOST_STROKED : MOST_FILLED;
  let outlines = 0;
  for (let at = svg.indexOf('<'); at >= 0; at = svg.indexOf('<', at)) {
    if (svg.startsWith('<!--', at)) {
      const end = svg.indexOf('-->', at);
      if (end < 0) throw new PictureFault(because('picture-cut-off', {}));
      at = end;
      continue;
    }
    const end = tagEnd(svg, at);
    if (end < 0) throw new PictureFault(because('picture-cut-off', {}));
    const tag = svg.slice(at, end);
    at = end;
    const clip = /^<\/?(?:[\w-]+:)?clipPath\b/i.test(tag);
    if (tag.startsWith('</')) {
      if (open.pop() === true) layers -= 1;
      if (clip) inClip -= 1;
      continue;
    }
    const clipped = /clip-path/i.test(tag);
    if (clipped && (clip || inClip > 0)) throw new PictureFault(because('svg-clipped', {}));
    const layer = clipped || /opacity/i.test(tag);
    elements += layer ? 1 + LAYER : 1;
    const [, double, single] = OUTLINE.exec(tag) ?? [];
    const outline = (double ?? single ?? '').length;
    outlines += outline;
    if (outlines > mostOutlines) {
      throw new PictureFault(because('svg-outlines', { most: mostOutlines }));
    }
    if (stroked && outline > LONGEST_STROKED) {
      throw new PictureFault(because('svg-stroked', { most: LONGEST_STROKED }));
    }
    dashed ||= /stroke-dasharray/i.test(tag);
    if (elements > MOST_ELEMENTS) throw new PictureFault(because('svg-elements', { most: MOST_ELEMENTS }));
    if (dashed && elements > MOST_DASHED) {
      throw new PictureFault(because('svg-dashed', { most: MOST_DASHED }));
    }
    if (tag.endsWith('/')) continue;
    open.push(layer);
    if (layer) layers += 1;
    if (clip) inClip += 1;
    if (layers > DEEPEST_LAYERS) {
      throw new PictureFault(because('svg-layers', { most: DEEPEST_LAYERS }));
    }
    if (open.length > DEEPEST) throw new PictureFault(because('svg-deep', { most: DEEPEST }));
  }
  return elements;
}

/** Whether anything in it may be stroked. */
function isStroked(svg: string): boolean {
  for (const [, paint] of svg.matchAll(STROKE)) if (paint?.toLowerCase() !== 'none') return true;
  // A comment in a style could hide a stroke.
  return svg.includes('/*');
}

/** Position of the `>`, outside quotes, that ends the tag beginning at `from`; -1: the tag does not end. */
function tagEnd(svg: string, from: number): number {
  const marks = /["'>]/g;
  marks.lastIndex = from;
  for (let match = marks.exec(svg); match !== null; match = marks.exec(svg)) {
    if (match[0] === '>') return match.index;
    const closing = svg.indexOf(match[0], match.index + 1);
    if (closing < 0) return -1;
    marks.lastIndex = closing + 1;
  }
  return -1;
}
