/**
 * Tells the person what became of jobs that were asked to stop, whatever page they are on by then: how many labels came out, of
 * how many nobody knows, and how many have moved.
 */
import { effect, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { JobDetails } from '../../src/contract/job-details.ts';
import { to } from '../address/place.ts';
import { say } from '../controls/toast.tsx';
import { Refusal } from '../service/call.ts';
import { session } from '../service/session.ts';
import { t } from '../texts/texts.ts';
import { cameOut } from './job-words.tsx';
import { isStopping } from './next.tsx';
import { useJob } from './one-job.ts';

/** At most so many jobs are followed at a time, because each takes requests of its own. */
const MOST = 20;

const followed = signal<readonly string[]>([]);
/** Jobs whose outcome has been told. A job stops once and is told once, however many pages follow it. */
const told = new Set<string>();
effect(() => {
  if (session.value === null) followed.value = [];
});

/** Follows jobs that are being stopped, and has their outcome told. */
export function follow(ids: readonly string[]): void {
  const more = ids.filter((id) => !told.has(id) && !followed.value.includes(id));
  if (more.length > 0) followed.value = [...followed.value, ...more].slice(0, MOST);
}

/** Follows the job of a page once it is being stopped, whoever asked for that. */
export function useOutcome(job: JobDetails | undefined): void {
  useEffect(() => {
    if (job !== undefined && isStopping(job)) follow([job.id]);
  }, [job]);
}

export function Outcomes() {
  return (
    <>
      {followed.value.map((id) => (
        <Outcome key={id} id={id} />
      ))}
    </>
  );
}

function Outcome({ id }: { id: string }) {
  const { live } = useJob(id);
  const job = live.data;
  // The job is gone, or this person may not see it: its outcome will never be known here.
  const refused = live.problem instanceof Refusal && [403, 404].includes(live.problem.status);
  useEffect(() => {
    if (!refused && (job === undefined || isStopping(job))) return;
    followed.value = followed.value.filter((one) => one !== id);
    if (refused || job === undefined) return;
    const words = outcomeOf(job);
    if (words === undefined || told.has(id)) return;
    told.add(id);
    say(
      <>
        {words} <a href={to(['jobs', id])}>{t.value.job.open}</a>
      </>,
    );
  }, [job, refused]);
  return null;
}

/** undefined: the job did not stop. It is held or goes on, which its page and the navigation say. */
function outcomeOf(job: JobDetails): string | undefined {
  const { job: words } = t.value;
  if (job.status === 'printed') return words.tooLate(job.template.name);
  if (job.status !== 'canceled') return undefined;
  const { moving } = job;
  const refused = moving?.refused == null ? '' : ` ${words.moveRefused(moving.printer, moving.refused)}`;
  return `${words.stopped(job.template.name, job.printer.name)} ${cameOut(job)}.${refused}`;
}
