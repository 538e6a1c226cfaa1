/** The panel of a virtual printer: faults to set with a click, and the labels that it has printed. */
import { useSignal } from '@preact/signals';
import {
  VIRTUAL_FAULTS,
  type VirtualPrinterView,
  virtualPrinter,
} from '../../src/contract/printer-actions.ts';
import { Problem, sayProblem } from '../controls/problem.tsx';
import { sets } from '../controls/sets.ts';
import { call } from '../service/call.ts';
import { useLive } from '../service/live.ts';
import { t } from '../texts/texts.ts';
import { actionPath, type Printer } from './printer-words.tsx';

/** At most this many labels are shown, the newest first. */
const SHOWN = 24;

export function VirtualPanel({ printer }: { printer: Printer }) {
  const { virtual: words } = t.value.printers;
  const path = actionPath(printer, 'virtual');
  const { live, reload } = useLive(virtualPrinter, path);
  const busy = useSignal(false);
  // The answer to a click counts until the panel is fetched again. Otherwise a second click would repeat the first one.
  const answered = useSignal<{ at: number; view: VirtualPrinterView } | null>(null);
  if (live.data === undefined) {
    if (live.problem !== undefined) return <Problem problem={live.problem} onRetry={reload} />;
    return <p class="muted">{t.value.general.loading}</p>;
  }
  const { at, view } = answered.value ?? { at: 0, view: live.data };
  const { faults, printed } = at > live.at ? view : live.data;
  const toggle = async (word: (typeof VIRTUAL_FAULTS)[number]) => {
    busy.value = true;
    try {
      const wanted = VIRTUAL_FAULTS.filter((one) => faults.includes(one) !== (one === word));
      const now = await call(virtualPrinter, path, { method: 'PUT', body: { faults: wanted } });
      answered.value = { at: Date.now(), view: now };
      reload();
    } catch (error) {
      sayProblem(error);
    } finally {
      busy.value = false;
    }
  };
  const numbers = Array.from({ length: Math.min(printed, SHOWN) }, (_, back) => printed - back);
  return (
    <section class="stack tight">
      <h2>{words.title}</h2>
      <p class="muted small">{words.hint}</p>
      <div class="row">
        {VIRTUAL_FAULTS.map((word) => (
          <button
            key={word}
            type="button"
            class={faults.includes(word) ? 'button chosen' : 'button'}
            aria-pressed={faults.includes(word)}
            disabled={busy.value}
            onClick={() => void toggle(word)}
          >
            {words.faults[word]}
          </button>
        ))}
      </div>
      <h3>{words.output}</h3>
      {numbers.length === 0 ? (
        <p class="muted">{words.none}</p>
      ) : (
        <ul class="output" aria-live="polite">
          {numbers.map((number) => (
            <Label key={number} printer={printer} number={number} />
          ))}
        </ul>
      )}
      {printed > SHOWN && <p class="muted small">{words.newest(SHOWN, printed)}</p>}
    </section>
  );
}

function Label({ printer, number }: { printer: Printer; number: number }) {
  const { virtual: words } = t.value.printers;
  const missing = useSignal(false);
  if (missing.value) return null;
  const picture = `/app${actionPath(printer, `virtual/${number}.png`)}`;
  return (
    <li>
      <a href={picture} target="_blank" rel="noreferrer">
        <img
          class="paper"
          loading="lazy"
          decoding="async"
          src={picture}
          alt={words.label(number)}
          onError={sets(missing, true)}
        />
      </a>
      <span class="small muted">{number}</span>
    </li>
  );
}
