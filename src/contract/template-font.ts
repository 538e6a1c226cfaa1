/**
 * The tenant's own fonts. They travel in the template, as its pictures do: a queued job is complete, and the fonts
 * of a host are never used. So they cost every job that is queued their size, and are to be cut down to the characters
 * that labels need.
 */
import { z } from 'zod';
import { LIMITS } from './limits.ts';
import { saying } from './reason.ts';

/** The fonts that come with the project. */
const PACKAGED_FONTS = ['condensed', 'sans'] as const;

function isPackagedFont(name: string): name is (typeof PACKAGED_FONTS)[number] {
  return PACKAGED_FONTS.some((font) => font === name);
}

/** Characters of base64. */
const LONGEST = Math.ceil(LIMITS.fontBytes / 3) * 4;

/** One face of a font; a font with a bold face is two of them, of the same name. */
const templateFont = z.strictObject({
  name: z
    .string()
    .trim()
    .min(1)
    .max(100)
    .refine((name) => !isPackagedFont(name), {
      error: saying('font-name', {}),
    }),
  /** A TrueType or OpenType file, base64 without a `data:` prefix. */
  data: z.base64().max(LONGEST, {
    error: saying('font-size', { most: LIMITS.fontBytes }),
  }),
  bold: z.boolean().default(false),
  italic: z.boolean().default(false),
});
export type TemplateFont = z.infer<typeof templateFont>;

/** Counts every four characters of base64 as three bytes, padding included. */
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
    { error: saying('font-faces', {}) },
  )
  .refine((fonts) => bytesIn(fonts) <= LIMITS.allFontBytes, {
    error: saying('fonts-size', { most: LIMITS.allFontBytes }),
  });
