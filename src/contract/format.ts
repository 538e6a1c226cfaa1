/** A printer format: how labels are made for one printer, chosen in a job by name or ID. */
import { z } from 'zod';

/**
 * The languages a label can be sent in, best for labels first. A folder each in `drivers/languages/`. `epl` is EPL2,
 * `tspl` TSPL and TSPL2.
 */
export const languageId = z.enum(['zpl', 'tspl', 'epl', 'pdf', 'pwg-raster', 'png']);
export type LanguageId = z.infer<typeof languageId>;

/**
 * The pixel type of PWG raster (PWG 5102.4, PwgRasterDocumentTypeSupported), most reliable first: a type that
 * clients hardly ever send is broken in some printers that list it (black_1 in LPrint 1.3 and CUPS's
 * ippeveps).
 */
export const rasterType = z.enum(['sgray_8', 'black_1', 'srgb_8']);
export type RasterType = z.infer<typeof rasterType>;

/**
 * How the printer is set for a format. All optional: what is not set is not sent, and stays as the printer is.
 * Ranges are those of the ZPL II Programming Guide, by the command named; a printer may have a smaller one. TSPL and
 * EPL2 do what they have a command for (`docs/printers.md`); on printers of pages these have no effect.
 */
export const printerSettings = {
  /** How hot the head burns, on the printer's own scale (~SD, "Set Darkness"). */
  darkness: z.number().min(0).max(30).multipleOf(0.1).optional(),
  /** Added to the darkness that is set at the printer (^MD, "Media Darkness"). */
  darknessOffset: z.number().min(-30).max(30).multipleOf(0.1).optional(),
  /** Inches per second (^PR, "Print Rate"). */
  speed: z.int().min(1).max(14).optional(),
  /** How the printer finds where a label ends (^MN, "Media Tracking"). */
  mediaTracking: z.enum(['continuous', 'gap', 'mark']).optional(),
  /** What happens to a printed label (^MM, "Print Mode"). `cutter` cuts after every label. */
  printMode: z.enum(['tear-off', 'peel-off', 'rewind', 'applicator', 'cutter']).optional(),
  /** With a ribbon or without (^MT, "Media Type"). */
  thermalMode: z.enum(['transfer', 'direct']).optional(),
  /** Moves the picture down, dots (^LT, "Label Top"). */
  labelTop: z.int().min(-120).max(120).optional(),
  /** Moves the picture to the left, dots (^LS, "Label Shift"). */
  labelShift: z.int().min(-9999).max(9999).optional(),
  /**
   * Whether a batch may keep its fixed part in the printer's memory (^DF, "Download Format"). False where something
   * between agent and printer hides that the printer was switched off, a print server for example.
   */
  storedFormats: z.boolean().optional(),
  /** What is sent to a printer that takes PWG raster; by default the first of these that it lists, or `sgray_8`. */
  rasterType: rasterType.optional(),
};

export const printerFormat = z.object({
  /** Stable for one printer: made from what the format is, not from its place in a list. */
  id: z.string().min(1).max(200),
  name: z.string().min(1).max(200),
  language: languageId,
  dpi: z.number().min(50).max(2400),
  /** The media's printable width and length, mm. */
  width: z.number().positive(),
  height: z.number().positive(),
  ...printerSettings,
});
export type PrinterFormat = z.infer<typeof printerFormat>;
