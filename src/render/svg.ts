/**
 * Which SVG may be drawn: one that is complete in itself.
 *
 * The drawing library would follow references, set text in the host's fonts, and expand what refers to itself
 * many times over. So this is a list of what is allowed, on the text as it stands: nothing that could hide a
 * reference (entities, other encodings) gets through.
 */

/** Elements that reach out, run, use the host's fonts, or multiply. */
const REFUSED =
  /<(?:[\w-]+:)?(script|foreignObject|text|image|feImage|use|a|animate\w*|set|iframe|audio|video)[\s/>]/i;
const REFERENCE = /\b(?:href|src)\s*=\s*(?!["']#)/i;
const URL = /\burl\s*\(\s*["']?(?!#)/i;

/** Why these bytes are not drawn; null: they are an SVG that may be. */
export function svgRefusal(bytes: Uint8Array): string | null {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return 'the picture is none of PNG, JPEG and SVG (in UTF-8)';
  }
  const body = text.replace(/^\s*(?:<\?xml\s[^?]*\?>\s*)?(?:<!--[\s\S]*?-->\s*)*/, '');
  if (!/^<svg[\s>]/.test(body)) return 'the picture is none of PNG, JPEG and SVG';
  const element = REFUSED.exec(body)?.[1];
  if (element !== undefined) return `an SVG on a label has no <${element}>: turn it into paths`;
  if (/<!DOCTYPE|<!ENTITY|<!\[CDATA|<\?|@import|@font-face/i.test(body) || /\\/.test(body)) {
    return 'an SVG on a label has no document type, entities, escapes or imports';
  }
  if (/&(?!(?:amp|lt|gt|quot|apos);)/.test(body)) return 'an SVG on a label has no character references';
  if (REFERENCE.test(body) || URL.test(body)) return 'an SVG on a label refers to nothing outside of itself';
  return null;
}
