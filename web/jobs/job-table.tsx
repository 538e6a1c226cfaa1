/** A table of jobs. On a narrow screen each job has two lines. */
import { z } from 'zod';
import type { ListedJob } from '../../src/contract/job-search.ts';
import { printerDetails } from '../../src/contract/printer-actions.ts';
import { to } from '../address/place.ts';
import { Meter } from '../controls/meter.tsx';
import { stillOf } from '../controls/still-words.ts';
import { Ago } from '../controls/time.tsx';
import { useLive } from '../service/live.ts';
import { TemplateThumb } from '../templates/template-picture.tsx';
import { t } from '../texts/texts.ts';
import { StatusWords, shortId, TestBadge } from './job-words.tsx';
import { waitsInLane } from './wait-words.ts';

type Picking = { picked: ReadonlySet<string>; onPick: (ids: readonly string[], on: boolean) => void };

type JobTableProps = { jobs: readonly ListedJob[]; picking?: Picking; onePrinter?: boolean };

/** A printer's name of at most so many letters stays in one line, even if the template's name has to be cut for it. */
const SHORT = 16;

/** @param onePrinter the page is about one printer, so the column that names the printer is left out */
export function JobTable({ jobs, picking, onePrinter = false }: JobTableProps) {
  const { jobs: words } = t.value;
  const all = picking !== undefined && jobs.every(({ id }) => picking.picked.has(id));
  const printers = useLive(
    z.array(printerDetails),
    jobs.some(waitsInLane) ? '/printers' : null,
    ({ printers }) => printers.length > 0,
  ).live.data;
  const whyOf = (job: ListedJob) => {
    const printer = waitsInLane(job) ? printers?.find(({ id }) => id === job.printer.id) : undefined;
    return printer && stillOf(printer)?.why;
  };
  return (
    <div class="card flush">
      <table class="cards jobs">
        <thead>
          <tr>
            {picking !== undefined && (
              <th>
                <label class="pick-all">
                  <input
                    type="checkbox"
                    checked={all}
                    onChange={() =>
                      picking.onPick(
                        jobs.map(({ id }) => id),
                        !all,
                      )
                    }
                  />
                  <span>{words.pickAll}</span>
                </label>
              </th>
            )}
            <th>{words.template}</th>
            <th>{words.status}</th>
            {!onePrinter && <th>{words.printer}</th>}
            <th>{words.labelsOut}</th>
            <th>{words.accepted}</th>
          </tr>
        </thead>
        <tbody>
          {jobs.map((job) => (
            <tr key={job.id}>
              {picking !== undefined && (
                <td data-label={words.pick}>
                  <input
                    type="checkbox"
                    aria-label={`${words.pick}: ${job.template.name}, ${shortId(job.id)}`}
                    checked={picking.picked.has(job.id)}
                    onChange={({ currentTarget }) => picking.onPick([job.id], currentTarget.checked)}
                  />
                </td>
              )}
              <td class="lead">
                <div class="known">
                  <span class="thumb" aria-hidden="true">
                    <TemplateThumb {...job.template} />
                  </span>
                  <span class="what">
                    <a class="row-link" href={to(['jobs', job.id])}>
                      {job.template.name}
                    </a>{' '}
                    {job.value != null ? (
                      <span title={job.id}>· {job.value}</span>
                    ) : (
                      <span class="small muted mono" title={job.id}>
                        {shortId(job.id)}
                      </span>
                    )}{' '}
                    {job.test && <TestBadge />}
                  </span>
                </div>
              </td>
              <td class="state" data-label={words.status}>
                <div>
                  <StatusWords job={job} still={whyOf(job)} />
                </div>
              </td>
              {!onePrinter && (
                <td
                  data-label={words.printer}
                  class={job.printer.name.length <= SHORT ? 'nowrap' : undefined}
                >
                  {job.printer.name}
                </td>
              )}
              <td data-label={words.labelsOut} class="numbers">
                <div class="out">
                  {words.of(job.labels.printed, job.labels.total)}
                  {job.status === 'printing' && <Meter part={job.labels.printed} of={job.labels.total} />}
                </div>
              </td>
              <td data-label={words.accepted} class="nowrap muted">
                <Ago at={job.createdAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
