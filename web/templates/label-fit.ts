/** Whether the label of a saved template fits the media of a printer's format. */
import type { PrinterFormat } from '../../src/contract/format.ts';
import { misfit } from '../../src/contract/media-fit.ts';
import type { Reason } from '../../src/contract/reason.ts';
import { template as templateOf } from '../../src/contract/template.ts';
import type { SavedTemplate } from './saved-template.ts';

export type Orientation = 'portrait' | 'landscape';

/** Printers of these languages print labels. Those of other languages print pages, on which a sheet of labels lies. */
const OF_LABELS: readonly PrinterFormat['language'][] = ['zpl', 'tspl', 'epl'];

/** Both sizes, if the label does not fit; undefined: it fits, or has no size of its own. */
export function misfitOf(
  { template }: SavedTemplate,
  orientation: Orientation,
  format: PrinterFormat,
): Reason | undefined {
  const { data } = templateOf.safeParse(template);
  return data && misfit(data, orientation, format, !OF_LABELS.includes(format.language));
}
