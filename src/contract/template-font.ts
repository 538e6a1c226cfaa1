/**
 * The tenant's own fonts. They travel in the template, as its pictures do: a queued job is complete, and the fonts
 * of a host are never used. So they cost every job that is queued their size, and are to be cut down to the characters
 * that labels need.
 */
import { z } from 'zod';
import { LIMITS } from './limits.ts';

/** What comes with the project. */
export const PACKAGED_FONTS = ['condensed', 'sans'] as const;

export function isPackagedFont(name: string): name is (typeof PACKAGED_FONTS)[number] {
  return PACKAGED_FONTS.some((font) => font === name);
}

/** Characters of base64. */
const LONGEST = Math.ceil(LIMITS.fontBytes / 3) * 4;

/** One face of a font; a font with a bold face is two of them, of the same name. */
export const templateFont = z.strictObject({
  name: z
    .string()
    .trim()
    .min(1)
    .max(100)
    .refine((name) => !isPackagedFont(name), {
      error: '"condensed" and "sans" are the fonts that Platen brings: expected another name',
    }),
  /** A TrueType or OpenType file, base64 without a `data:` prefix. */
  data: z.base64().max(LONGEST, {
    error: `a font has at most ${LIMITS.fontBytes} bytes: cut it down to the characters that labels need`,
  }),
  bold: z.boolean().default(false),
  italic: z.boolean().default(false),
});
export type TemplateFont = z.infer<typeof templateFont>;

/** Most of base64 is three bytes in four characters. */
const bytesIn = (fonts: readonly TemplateFont[]): number =>
  fonts.reduce((sum, { data }) => sum + (data.length / 4) * 3, 0);

export const templateFonts = z
  .array(templateFont)
  .max(LIMITS.fonts)
  .default([])
  .refine(
    (fonts) =>
      new Set(fonts.map(({ name, bold, italic }) => JSON.stringify([name, bold, italic]))).size ===
      fonts.length,
    { error: 'two faces of a font are both bold, or both italic, or neither' },
  )
  .refine((fonts) => bytesIn(fonts) <= LIMITS.allFontBytes, {
    error: `the fonts of a template have at most ${LIMITS.allFontBytes} bytes together`,
  });
