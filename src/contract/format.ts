/** A printer format: how labels are made for one printer, chosen in a job by name or ID. */
import { z } from 'zod';

/** The languages a label can be sent in. One file each in `drivers/languages/`. */
export const languageId = z.enum(['zpl', 'pdf']);
export type LanguageId = z.infer<typeof languageId>;

export const printerFormat = z.object({
  /** Stable for one printer: made from what the format is, not from its place in a list. */
  id: z.string().min(1).max(200),
  name: z.string().min(1).max(200),
  language: languageId,
  dpi: z.number().min(50).max(2400),
  /** The media's printable width and length, mm. */
  width: z.number().positive(),
  height: z.number().positive(),
});
export type PrinterFormat = z.infer<typeof printerFormat>;
