/** The start page: what needs somebody now, or, in an empty installation, the steps to the first label. */
import { z } from 'zod';
import { templateView } from '../../src/contract/admin.ts';
import { agentView } from '../../src/contract/agent-view.ts';
import { jobCounts, jobPage, MOST_COUNTED } from '../../src/contract/job-search.ts';
import { to } from '../address/place.ts';
import { Icon } from '../controls/icon.tsx';
import { Page, Shown } from '../controls/page.tsx';
import { TODAY, timed } from '../jobs/asked.ts';
import { JobTable } from '../jobs/job-table.tsx';
import { countWords } from '../jobs/job-words.tsx';
import { printerList } from '../printers/printer-words.tsx';
import { Standing, standing } from '../printers/standing.tsx';
import { useLive } from '../service/live.ts';
import { may, ofTenant } from '../service/session.ts';
import { t } from '../texts/texts.ts';

const LATEST = 8;

export function Start() {
  const { start: words } = t.value;
  const printers = useLive(printerList, '/printers');
  const templates = useLive(z.array(templateView), ofTenant('/templates'));
  const latest = useLive(jobPage, `/jobs?limit=${LATEST}`, ({ jobs }) => jobs.length > 0);
  const counts = useLive(jobCounts, '/jobs/counts', ({ jobs }) => jobs.length > 0);
  const reload = () => {
    printers.reload();
    templates.reload();
    latest.reload();
  };
  const held = counts.live.data?.undecided ?? 0;
  const begun = (latest.live.data?.jobs.length ?? 0) > 0;
  // Which first steps are missing is known only once printers, templates and jobs have arrived.
  const heard = printers.live.data !== undefined && templates.live.data !== undefined;
  const all = {
    ...latest.live,
    data: heard ? latest.live.data?.jobs : undefined,
    problem: latest.live.problem ?? printers.live.problem ?? templates.live.problem,
  };
  const still = standing(printers.live.data ?? []);
  return (
    <Page
      title={words.title}
      actions={
        begun &&
        may('jobs:act') && (
          <a class="button primary" href={to(['print'])}>
            <Icon name="print" />
            {words.toPrint}
          </a>
        )
      }
    >
      <div class="stack wide">
        {held > 0 && (
          <div class="note warn row spread">
            <strong>{words.decide(held, held >= MOST_COUNTED)}</strong>
            <a class="button" href={to(['held'])}>
              {t.value.job.decide}
            </a>
          </div>
        )}
        {begun && still.length > 0 && <Standing printers={still} />}
        {begun && <Today />}
        <Shown of={all} onRetry={reload}>
          {(jobs) =>
            jobs.length > 0 ? (
              <section class="stack tight">
                <h2>{words.latest}</h2>
                <JobTable jobs={jobs} />
              </section>
            ) : (
              <FirstSteps
                printers={printers.live.data?.length ?? 0}
                templates={templates.live.data?.length ?? 0}
              />
            )
          }
        </Shown>
      </div>
    </Page>
  );
}

const TODAY_COUNTS = `/jobs/counts?since=${TODAY}`;

/** What became of the jobs that were accepted today. Each number is a link to its jobs. */
function Today() {
  const { start: words, jobs } = t.value;
  const { live } = useLive(jobCounts, TODAY_COUNTS, ({ jobs }) => jobs.length > 0, timed);
  if (live.data === undefined) return null;
  const { queued, printing, printed, failed, undecided, canceled } = live.data;
  const figures = [
    { status: 'printed', said: words.printed, count: printed },
    { status: 'queued,printing', said: jobs.underWay, count: queued + printing },
    { status: 'held', said: t.value.status.held, count: undecided },
    { status: 'failed', said: t.value.status.failed, count: failed },
    { status: 'canceled', said: t.value.status.canceled, count: canceled },
  ];
  return (
    <section class="stack tight">
      <h2>{words.today}</h2>
      <ul class="figures">
        {figures.map(({ status, said, count }) => (
          <li key={status}>
            <a class="card" href={to(['jobs'], { since: TODAY, status })}>
              <strong class={`numbers ${status === 'failed' && count > 0 ? 'bad' : ''}`}>
                {countWords(count)}
              </strong>
              <span class="small muted">{said}</span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function FirstSteps({ printers, templates }: { printers: number; templates: number }) {
  const { start: words } = t.value;
  // The page of the printers is offered as soon as there is an agent, even before it has found a printer.
  const agents = useLive(z.array(agentView), '/agents').live.data?.length ?? 0;
  return (
    <section class="stack narrow">
      <h2>{words.hello}</h2>
      <ol class="steps">
        <li class={printers > 0 ? 'done' : ''}>
          <div>
            <h3>{words.printer}</h3>
            <p class="muted">{printers > 0 ? words.printerDone(printers) : words.printerHint}</p>
          </div>
          {(printers > 0 || agents > 0) && (
            <a class="button" href={to(['printers'])}>
              {words.toPrinters}
            </a>
          )}
        </li>
        <li class={templates > 0 ? 'done' : ''}>
          <div>
            <h3>{words.template}</h3>
            <p class="muted">{templates > 0 ? words.templateDone(templates) : words.templateHint}</p>
          </div>
          <a class="button" href={to(['templates'])}>
            {words.toTemplates}
          </a>
        </li>
        <li>
          <div>
            <h3>{words.label}</h3>
            <p class="muted">{words.labelHint}</p>
          </div>
          {printers > 0 && templates > 0 && may('jobs:act') && (
            <a class="button primary" href={to(['print'])}>
              {words.toPrint}
            </a>
          )}
        </li>
      </ol>
    </section>
  );
}
