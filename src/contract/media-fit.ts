/** Whether a template's label fits the media of a printer's format. */
import type { PrinterFormat } from './format.ts';
import type { PrintRequest } from './print-request.ts';
import { because, type Reason } from './reason.ts';
import { type MadeFor, mediaOf } from './sheet.ts';

/** mm by which label and media may differ. */
const TOLERANCE = 1;

/**
 * Why the label does not fit, as a reason with both sizes; undefined: it does, or the template does not say its size.
 * @param pages whether the format's language prints pages, on which a sheet of labels lies
 */
export function misfit(
  template: MadeFor,
  orientation: PrintRequest['orientation'],
  format: Pick<PrinterFormat, 'width' | 'height'>,
  pages: boolean,
): Reason | undefined {
  const media = mediaOf(template, pages);
  if (media.width === undefined || media.height === undefined) return undefined;
  const [width, height] =
    orientation === 'portrait' ? [media.width, media.height] : [media.height, media.width];
  if (Math.abs(width - format.width) <= TOLERANCE && Math.abs(height - format.height) <= TOLERANCE)
    return undefined;
  const sizes = { width, height, mediaWidth: format.width, mediaHeight: format.height };
  return because(media.what === 'sheet' ? 'sheet-turned-mismatch' : 'label-turned-mismatch', sizes);
}
