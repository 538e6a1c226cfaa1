/** The labels of each day, as a chart and as a table, and how many of them each template and each printer had. */
import { useSignal } from '@preact/signals';
import { type Usage as Counted, usage } from '../../src/contract/admin.ts';
import { Choice } from '../controls/field.tsx';
import { Meter } from '../controls/meter.tsx';
import { Shown } from '../controls/page.tsx';
import { useLive } from '../service/live.ts';
import { ofTenant } from '../service/session.ts';
import { dayOf, t } from '../texts/texts.ts';

export function Usage() {
  const { usage: words } = t.value;
  const days = useSignal('30');
  const { live, reload } = useLive(usage, ofTenant(`/usage?days=${days.value}`), () => false);
  return (
    <section class="card stack">
      <div class="row spread">
        <h2>{words.title}</h2>
        <Choice
          aria-label={words.span}
          value={days.value}
          onChoice={(value) => {
            days.value = value;
          }}
          options={Object.entries(words.spans).map(([value, said]) => ({ value, words: said }))}
        />
      </div>
      <Shown of={live} onRetry={reload}>
        {(counted) => <Shares counted={counted} />}
      </Shown>
      <p class="small muted">{words.hint}</p>
    </section>
  );
}

function Shares({ counted }: { counted: Counted }) {
  const { usage: words } = t.value;
  const total = sumOf(counted.days);
  if (total === 0) return <p class="muted">{words.none}</p>;
  return (
    <div class="stack">
      <Chart days={counted.days} total={total} />
      <div class="two">
        <Share title={words.templates} of={counted.templates} total={total} />
        <Share title={words.printers} of={counted.printers} total={total} />
      </div>
      <details>
        <summary>{words.asTable}</summary>
        <Table days={counted.days} />
      </details>
    </div>
  );
}

const sumOf = (of: readonly { labels: number }[]) => of.reduce((sum, { labels }) => sum + labels, 0);

/** One bar for each day. On a narrow screen the bars get narrower; none is left out. */
function Chart({ days, total }: { days: Counted['days']; total: number }) {
  const { usage: words } = t.value;
  const most = days.reduce((max, day) => (day.labels > max.labels ? day : max));
  const [first, last] = [days[0], days.at(-1)];
  const said = `${words.said(total, days.length)}, ${words.most(most.labels, dayOf(most.day))}`;
  return (
    <figure class="chart">
      <figcaption>{said}</figcaption>
      <svg role="img" aria-label={said} viewBox={`0 0 ${days.length} 100`} preserveAspectRatio="none">
        {days.map(({ day, labels }, index) => {
          // Any day that has labels gets a visible bar.
          const height = labels === 0 ? 0 : Math.max(1, (100 * labels) / most.labels);
          return (
            <rect key={day} x={index + 0.1} y={100 - height} width="0.8" height={height}>
              <title>{`${dayOf(day)}: ${words.number(labels)}`}</title>
            </rect>
          );
        })}
      </svg>
      <div class="row spread small muted" aria-hidden="true">
        <span>{first && dayOf(first.day)}</span>
        <span>{last && dayOf(last.day)}</span>
      </div>
    </figure>
  );
}

type ShareProps = { title: string; of: Counted['templates']; total: number };

function Share({ title, of, total }: ShareProps) {
  const { usage: words } = t.value;
  const rest = total - sumOf(of);
  const rows = rest > 0 ? [...of, { id: '', name: words.others, labels: rest }] : of;
  return (
    <div class="stack tight">
      <h3>{title}</h3>
      <ul class="stack tight">
        {rows.map(({ id, name, labels }) => (
          <li key={id}>
            <div class="row spread">
              <span class="anywhere">{name}</span>
              <span class="numbers">{words.number(labels)}</span>
            </div>
            <Meter part={labels} of={total} />
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Newest day first; days without jobs are left out. */
function Table({ days }: { days: Counted['days'] }) {
  const { usage: words } = t.value;
  return (
    <table>
      <thead>
        <tr>
          <th>{words.day}</th>
          <th class="right">{words.jobs}</th>
          <th class="right">{words.labels}</th>
        </tr>
      </thead>
      <tbody>
        {days
          .filter(({ jobs }) => jobs > 0)
          .toReversed()
          .map(({ day, jobs, labels }) => (
            <tr key={day}>
              <td class="nowrap">{dayOf(day)}</td>
              <td class="right numbers">{words.number(jobs)}</td>
              <td class="right numbers">{words.number(labels)}</td>
            </tr>
          ))}
      </tbody>
    </table>
  );
}
