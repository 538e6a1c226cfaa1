/** Whether the label fits the media in the printer. If not, the page says so, and asks before it prints all the same. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { PrinterFormat } from '../../src/contract/format.ts';
import { Ask } from '../controls/dialog.tsx';
import type { Printer } from '../printers/printer-words.tsx';
import { session } from '../service/session.ts';
import { misfitOf, type Orientation } from '../templates/label-fit.ts';
import type { SavedTemplate } from '../templates/saved-template.ts';
import { t } from '../texts/texts.ts';

/** Sizes that somebody has agreed to since the console was opened, about which the page does not ask again. */
const agreed = new Set<string>();

/** Says both sizes if the label does not fit; undefined: it fits, or has no size of its own. */
export function misfitWords(
  template: SavedTemplate,
  orientation: Orientation,
  format: PrinterFormat,
): string | undefined {
  const reason = misfitOf(template, orientation, format);
  if (reason === undefined) return undefined;
  const { width, height } = reason.values;
  const { general, print } = t.value;
  return print.misfit(general.mm(format.width, format.height), general.mm(Number(width), Number(height)));
}

type FitProps = {
  template: SavedTemplate;
  orientation: Orientation;
  format: PrinterFormat | undefined;
  printers: readonly Printer[];
  onPrinter: (id: string) => void;
};

/**
 * @returns `says`: what the page says; `question`: the dialog, while it asks; `agrees`: asks if need be, and returns whether to
 *   print
 */
export function useMediaFit({ template, orientation, format, printers, onPrinter }: FitProps) {
  const { print: words } = t.value;
  const asks = useSignal<((yes: boolean) => void) | null>(null);
  const refused = session.value?.tenant.mediaMustFit === true;
  const said = format && misfitWords(template, orientation, format);
  const about = said && `${template.id} ${said}`;
  const agrees = async (): Promise<boolean> => {
    if (about === undefined || (!refused && agreed.has(about))) return true;
    return await new Promise((resolve) => {
      asks.value = resolve;
    });
  };
  const answer = (yes: boolean) => {
    if (yes && about !== undefined) agreed.add(about);
    asks.value?.(yes);
    asks.value = null;
  };
  const fitting = printers.filter(({ formats }) =>
    formats.some((one) => misfitWords(template, orientation, one) === undefined),
  );
  const offers = said !== undefined && (
    <div class="row">
      <span>{fitting.length === 0 ? words.noneFits : words.fits}</span>
      {fitting.map(({ id, name }) => (
        <button
          key={id}
          type="button"
          class="button"
          onClick={() => {
            answer(false);
            onPrinter(id);
          }}
        >
          {name}
        </button>
      ))}
    </div>
  );
  const says: ComponentChildren = said !== undefined && (
    <div class="note warn stack tight">
      <p>{said}</p>
      {refused && <p>{words.misfitRefused}</p>}
      {offers}
    </div>
  );
  const question: ComponentChildren = asks.value !== null && said !== undefined && (
    <Ask
      title={words.misfitTitle}
      action={words.printAnyway}
      disabled={refused}
      onClose={() => answer(false)}
      onAction={async () => answer(true)}
    >
      <p>{said}</p>
      {refused && <p>{words.misfitRefused}</p>}
      {offers}
    </Ask>
  );
  return { says, question, agrees };
}
