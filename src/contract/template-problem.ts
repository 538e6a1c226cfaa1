/** What a check of a template finds: `platen template check`, and the answer to an import. */
import { z } from 'zod';
import { readableReason } from './reason.ts';

/** A problem that every record would have is an error, any other a warning. */
export const TEMPLATE_PROBLEMS = [
  /** It cannot be printed: a placeholder, a picture or an option is wrong. */
  'template-invalid',
  /** Fixed data, or a field's sample, that its element cannot take. */
  'value-invalid',
  'does-not-fit',
  'off-label',
  /** Raw ZPL: a command that is not sent. */
  'left-out',
  /** Something is printed in a barcode's quiet zone, or on the barcode. */
  'quiet-zone',
  'field-unused',
  'field-undeclared',
  'image-unused',
  'font-unused',
  /** A font of the template's own lacks a character, and a packaged one has it. */
  'glyph-borrowed',
  /** Rounded to whole dots, a module is far from what was asked for. */
  'module-rounded',
  'size-mismatch',
] as const;

export const templateProblem = z.object({
  severity: z.enum(['error', 'warning']),
  code: z.enum(TEMPLATE_PROBLEMS),
  /** JSON pointer (RFC 6901) into the template. */
  pointer: z.string(),
  message: z.string(),
  /** What the message says, for a page in another language. */
  reason: readableReason,
  /** Found with the samples of the fields; with a record it may be otherwise. */
  sampled: z.literal(true).optional(),
  /** Found at these resolutions only. */
  dpis: z.array(z.number()).optional(),
});
export type TemplateProblem = z.infer<typeof templateProblem>;
