import { computed, signal } from '@preact/signals';
import { inFull, t, when } from '../texts/texts.ts';

/** A time in the viewer's zone; its tooltip has the full date and the zone. */
export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={inFull(at)}>
      {when(at)}
    </time>
  );
}

const HALF_MINUTE = 30_000;
const now = signal(Date.now());
setInterval(() => {
  now.value = Date.now();
}, HALF_MINUTE);
const relative = computed(
  () => new Intl.RelativeTimeFormat(t.value.locale, { numeric: 'auto', style: 'short' }),
);

/** How long ago something was, if less than a day; after that its time. The tooltip has the full date. */
export function Ago({ at }: { at: string }) {
  const minutes = Math.max(0, Math.round((now.value - Date.parse(at)) / 60_000));
  const [count, unit] =
    minutes < 60 ? [minutes, 'minute' as const] : [Math.round(minutes / 60), 'hour' as const];
  return (
    <time dateTime={at} title={inFull(at)}>
      {minutes < 24 * 60
        ? minutes === 0
          ? t.value.general.justNow
          : relative.value.format(-count, unit)
        : when(at)}
    </time>
  );
}
