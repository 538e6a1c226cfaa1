/** A printer as the configuration names it. Its settings win over what the device says. */
import { z } from 'zod';
import { LANGUAGES } from '../../drivers/languages/index.ts';
import { languageId, printerSettings } from '../contract/format.ts';
import { admits, expectation } from '../contract/print-settings.ts';
import { printerId } from '../contract/printer.ts';
import { reasonText } from '../contract/reason.ts';

/**
 * What counts as printed if the printer itself cannot say it. This concerns printers that never answer, and printers behind a
 * queue that only passes bytes on.
 *
 * `device` (the default): nothing does. The job is held for a person once everything is delivered.
 * `transport`: what the connection took, or what the queue calls completed. If a label is lost after that, nobody notices. So
 * the operator decides this: for a printer, for a model (`discovery.fingerprints`), or for all printers.
 */
export const confirmation = z.enum(['device', 'transport']);
export type Confirmation = z.infer<typeof confirmation>;

const millimetres = z.number().positive().max(2_000);
const dotsPerInch = z.number().min(50).max(2_400);

export const formatConfig = z
  .strictObject({
    name: z.string().trim().min(1).max(200).optional(),
    language: languageId.default('zpl'),
    dpi: dotsPerInch,
    /** Printable width and length of the media, mm. */
    width: millimetres,
    height: millimetres,
    ...printerSettings,
  })
  .superRefine(({ language, darkness }, context) => {
    const limits = LANGUAGES[language].settings;
    if (darkness === undefined || limits === undefined || admits(limits, 'darkness', darkness)) return;
    const message = `${reasonText(expectation(limits, 'darkness'))} for ${language}, got ${darkness}`;
    context.addIssue({ code: 'custom', path: ['darkness'], message });
  });
export type FormatConfig = z.infer<typeof formatConfig>;

export const printerConfig = z.strictObject({
  uri: z.string().max(500).refine(URL.canParse, { error: 'expected a URI like socket://10.0.0.7:9100' }),
  name: z.string().trim().min(1).max(200).optional(),
  /** Fixes the printer's ID; otherwise it comes from the device itself. */
  id: printerId.optional(),
  language: languageId.default('zpl'),
  dpi: dotsPerInch.optional(),
  width: millimetres.optional(),
  height: millimetres.optional(),
  /** The printer settings of the formats that are made from dpi, width and height. */
  ...printerSettings,
  /** All formats of the printer. If left out, they are made from dpi, width and height, and from what the device says. */
  formats: z.array(formatConfig).min(1).max(200).optional(),
  /** If left out, the model's line in `discovery.fingerprints` counts, or else the agent's setting. */
  confirmation: confirmation.exactOptional(),
  /** Whether the printer may be driven wherever a device says that it is this printer, not only at the named addresses. */
  mayMove: z.boolean().exactOptional(),
});
export type PrinterConfig = z.infer<typeof printerConfig>;
