/** The printers on a monitor in the hall: in large letters, those that stand still first, and with a sound when one stops. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { place, refine, to } from '../address/place.ts';
import { Choice } from '../controls/field.tsx';
import { Page, Shown } from '../controls/page.tsx';
import { useLive } from '../service/live.ts';
import { listed, t } from '../texts/texts.ts';
import { groupsOf, type Printer, PrinterState, printerList } from './printer-words.tsx';
import { standing } from './standing.tsx';

const keyOf = ({ tenant, id }: Printer) => `${tenant} ${id}`;

export function Wall() {
  const { printers: words } = t.value;
  const { live, reload } = useLive(printerList, '/printers');
  const sound = useSignal<AudioContext | undefined>(undefined);
  const said = useSignal('');
  const before = useRef<ReadonlySet<string>>(undefined);
  // The group is in the address, so that a monitor that was switched off shows the same printers again.
  const group = place.value.query.get('group') ?? '';
  const groups = groupsOf(live.data ?? []);
  useEffect(() => {
    if (live.data === undefined) return;
    const now = standing(live.data.filter((one) => group === '' || one.group === group));
    const known = before.current;
    before.current = new Set(now.map(keyOf));
    const stopped = now.filter((one) => known !== undefined && !known.has(keyOf(one)));
    if (stopped.length === 0) return;
    said.value = words.wallStopped(listed(stopped.map(({ name }) => name)));
    if (sound.value !== undefined) ring(sound.value);
  }, [live.data, group]);
  return (
    <Page
      title={words.wall}
      crumb={{ words: words.title, href: to(['printers']) }}
      actions={
        <>
          {groups.length > 0 && (
            <Choice
              aria-label={words.group}
              value={group}
              options={[
                { value: '', words: words.allGroups },
                ...[...new Set([...groups, ...(group === '' ? [] : [group])])].map((name) => ({
                  value: name,
                  words: name,
                })),
              ]}
              onChoice={(name) => {
                // Printers that only now come into sight have not just stopped, so no sound is made for them.
                before.current = undefined;
                refine({ group: name });
              }}
            />
          )}
          <button
            type="button"
            class={sound.value === undefined ? 'button primary' : 'button chosen'}
            aria-pressed={sound.value !== undefined}
            onClick={() => {
              if (sound.value !== undefined) {
                void sound.value.close();
                sound.value = undefined;
                return;
              }
              // A browser plays sounds only after a click. This click rings, too, so that people know that the sound works.
              sound.value = new AudioContext();
              ring(sound.value);
            }}
          >
            {words.wallSound}
          </button>
        </>
      }
    >
      <p class="unseen" role="status">
        {said.value}
      </p>
      <Shown of={live} onRetry={reload}>
        {(list) => {
          const shown = list.filter((one) => group === '' || one.group === group);
          const still = standing(shown);
          const others = shown.filter((one) => !one.gone && !one.hidden && !still.includes(one));
          return (
            <ul class="wall">
              {[...still, ...others].map((printer) => (
                <li key={keyOf(printer)} class={`card ${still.includes(printer) ? 'still' : ''}`}>
                  <a class="row-link anywhere" href={to(['printers', printer.id])}>
                    {printer.name}
                  </a>
                  {(printer.place ?? '') !== '' && <div class="anywhere">{printer.place}</div>}
                  <PrinterState printer={printer} />
                  <div class="muted">{words.waiting(printer.jobs.queued, printer.jobs.printing)}</div>
                </li>
              ))}
            </ul>
          );
        }}
      </Shown>
    </Page>
  );
}

/** When each tone begins, in s, and its pitch, in Hz. */
const TONES = [
  [0, 880],
  [0.25, 660],
  [0.5, 880],
] as const;

function ring(context: AudioContext): void {
  for (const [after, pitch] of TONES) {
    const tone = context.createOscillator();
    const volume = context.createGain();
    tone.frequency.value = pitch;
    volume.gain.value = 0.3;
    tone.connect(volume).connect(context.destination);
    tone.start(context.currentTime + after);
    tone.stop(context.currentTime + after + 0.2);
  }
}
