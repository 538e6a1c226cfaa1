/** Words for a job's state and errors. */
import type { JobView } from '../../src/contract/job.ts';
import type { JobDetails } from '../../src/contract/job-details.ts';
import type { JobStatus } from '../../src/contract/job-life.ts';
import { MOST_COUNTED } from '../../src/contract/job-search.ts';
import { reasonWords } from '../controls/reason-words.ts';
import { saidOf, t } from '../texts/texts.ts';
import { isStuck, whyWords } from './wait-words.ts';

/** Amber: it waits for somebody, and goes on by itself once that is mended. Red: it went wrong, and does not go on by itself. */
const TONE: Readonly<Record<JobStatus, string>> = {
  queued: '',
  printing: 'busy',
  printed: 'good',
  failed: 'bad',
  canceled: '',
  held: 'warn',
};

/** The number of jobs. The service counts no further than `MOST_COUNTED`, so there may be more. */
export function countWords(count: number): string {
  return count >= MOST_COUNTED ? `${MOST_COUNTED}+` : String(count);
}

type Standing = Pick<JobView, 'status' | 'reasons' | 'uncertain'>;

/** How many labels of a canceled job may be out. These wait for somebody, although the job itself does not. */
function inDoubt({ status, uncertain }: Standing): number {
  return status === 'canceled' && uncertain !== null ? uncertain.to - uncertain.from : 0;
}

type StatusProps = {
  job: Standing;
  /** Why nothing comes out of its printer, while the job waits in its lane. */
  still: string | undefined;
};

/** @param why the reasons in words, if the badge is to say them, too */
export function StatusBadge({ job, still, why }: StatusProps & { why?: string }) {
  const { job: words, status: states } = t.value;
  const { status } = job;
  const stuck = isStuck(job, still);
  const tone = `badge ${stuck || inDoubt(job) > 0 ? 'warn' : TONE[status]}`;
  if (why !== undefined)
    return <span class={tone}>{`${stuck ? states.queued : states[status]}: ${why}`}</span>;
  if (!stuck || status !== 'printing') return <span class={tone}>{states[status]}</span>;
  // On a phone the badge is short, to leave room for the job's name; why the job waits stands below it.
  return (
    <span class={tone}>
      <span class="beyond-phone">{words.waitsForPrinter}</span>
      <span class="narrow-only">{states.queued}</span>
    </span>
  );
}

/** Marks the job of a test key. */
export function TestBadge() {
  return <span class="badge">{t.value.integrations.test}</span>;
}

/** The state of a job, with why it waits or how many of its labels may be out. */
export function StatusWords({ job, still }: StatusProps) {
  const doubt = inDoubt(job);
  const why = job.reasons.length > 0 || doubt === 0 ? whyWords(job, still) : t.value.job.doubt(doubt);
  return (
    <>
      <StatusBadge job={job} still={still} />
      {why !== '' && (
        <span class="small muted why" title={why}>
          {why}
        </span>
      )}
    </>
  );
}

/** Why a job did not print. */
export function faultWords({ code, message, reason, record, field }: NonNullable<JobView['error']>): string {
  const words = reasonWords(reason);
  if (words !== undefined) {
    const at = record === undefined ? undefined : t.value.problem.atRecord(record + 1);
    const where = [at, field].filter((one) => one !== undefined).join(', ');
    return where === '' ? words : `${where}: ${words}`;
  }
  return saidOf(t.value.problem.jobFaults, code, message);
}

/** The first label that another printer prints, because the rest of the job was moved there; else the number of labels. */
export function endOf({ labels, rests }: Pick<JobDetails, 'labels' | 'rests'>): number {
  return Math.min(labels.total, ...rests.map(({ from }) => from));
}

/** What came out of a job that was stopped: `24 out, 11 uncertain, 165 moved to dock 4`. */
export function cameOut(
  job: Pick<JobDetails, 'labels' | 'uncertain'> & { rests?: JobDetails['rests'] },
): string {
  const { job: words } = t.value;
  const { rests = [], labels, uncertain } = job;
  const end = endOf({ labels, rests });
  const doubt = uncertain === null ? 0 : uncertain.to - uncertain.from;
  const out = uncertain?.from ?? labels.printed;
  const not = end - out - doubt;
  return [
    words.out(out),
    ...(doubt > 0 ? [words.doubt(doubt)] : []),
    ...rests.slice(0, 1).map(({ printer }) => words.movedTo(labels.total - end, printer)),
    ...(not > 0 ? [words.notOut(not)] : []),
  ].join(', ');
}

export function shortId(id: string): string {
  return id.slice(0, 13);
}
