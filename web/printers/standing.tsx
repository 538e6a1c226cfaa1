/** The printers that print nothing until somebody looks: since when they stand still, what waits for each, and what can be done. */
import { useSignal } from '@preact/signals';
import { standsStill } from '../../src/contract/printer-view.ts';
import { to } from '../address/place.ts';
import { sets } from '../controls/sets.ts';
import { MoveAll } from '../jobs/move-all.tsx';
import { may } from '../service/session.ts';
import { t } from '../texts/texts.ts';
import { type Printer, PrinterState } from './printer-words.tsx';

const heldUp = ({ jobs }: Printer) => jobs.queued + jobs.printing;

/** The printers that stand still. Those for which most jobs wait come first. */
export function standing(printers: readonly Printer[]): Printer[] {
  return printers
    .filter((one) => standsStill(one) && !one.gone && !one.hidden)
    .sort((a, b) => heldUp(b) - heldUp(a));
}

export function Standing({ printers }: { printers: readonly Printer[] }) {
  const { start: words, jobs } = t.value;
  const moving = useSignal<Printer | null>(null);
  return (
    <section class="stack tight">
      <h2>{words.troubled}</h2>
      <ul class="standing">
        {printers.map((printer) => (
          <li key={`${printer.tenant} ${printer.id}`} class="card">
            <div class="stack hair">
              <a class="row-link anywhere" href={to(['printers', printer.id])}>
                {printer.name}
              </a>
              {(printer.place ?? '') !== '' && <div class="small anywhere">{printer.place}</div>}
            </div>
            <PrinterState printer={printer} />
            <strong class={heldUp(printer) === 0 ? 'muted' : ''}>{words.heldUp(heldUp(printer))}</strong>
            <div class="row end">
              {heldUp(printer) > 0 && may('jobs:act') && (
                <button
                  type="button"
                  class="button"
                  aria-label={`${jobs.moveAll}: ${printer.name}`}
                  onClick={sets(moving, printer)}
                >
                  {jobs.moveAll}
                </button>
              )}
              <a
                class="button"
                href={to(['printers', printer.id])}
                aria-label={`${t.value.job.openPage}: ${printer.name}`}
              >
                {t.value.job.openPage}
              </a>
            </div>
          </li>
        ))}
      </ul>
      {moving.value !== null && <MoveAll printer={moving.value} onClose={sets(moving, null)} />}
    </section>
  );
}
