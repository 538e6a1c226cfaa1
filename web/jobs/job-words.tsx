/** Words for a job's state and errors. */
import type { JobView } from '../../src/contract/job.ts';
import type { JobDetails } from '../../src/contract/job-details.ts';
import type { JobStatus } from '../../src/contract/job-life.ts';
import { MOST_COUNTED } from '../../src/contract/job-search.ts';
import { reasonWords } from '../controls/reason-words.ts';
import { saidOf, t } from '../texts/texts.ts';
import { isStuck, whyWords } from './wait-words.ts';

/** Amber waits for somebody and goes on once that is mended; red went wrong, and does not go on by itself. */
const TONE: Readonly<Record<JobStatus, string>> = {
  queued: '',
  printing: 'busy',
  printed: 'good',
  failed: 'bad',
  canceled: '',
  held: 'warn',
};

/** How many jobs there are; from `MOST_COUNTED` on there may be more. */
export function countWords(count: number): string {
  return count >= MOST_COUNTED ? `${MOST_COUNTED}+` : String(count);
}

type Standing = Pick<JobView, 'status' | 'reasons' | 'uncertain'>;

/** How many labels of a canceled job may be out: they wait for somebody, though the job does not. */
function inDoubt({ status, uncertain }: Standing): number {
  return status === 'canceled' && uncertain !== null ? uncertain.to - uncertain.from : 0;
}

type StatusProps = {
  job: Standing;
  /** Why nothing comes out of its printer, while the job waits in its lane. */
  still: string | undefined;
};

/** @param why the reasons in words, where the badge is to say them too */
export function StatusBadge({ job, still, why }: StatusProps & { why?: string }) {
  const { job: words, status: states } = t.value;
  const { status } = job;
  const stuck = isStuck(job, still);
  const tone = `badge ${stuck || inDoubt(job) > 0 ? 'warn' : TONE[status]}`;
  if (why !== undefined)
    return <span class={tone}>{`${stuck ? states.queued : states[status]}: ${why}`}</span>;
  if (!stuck || status !== 'printing') return <span class={tone}>{states[status]}</span>;
  // On a phone the job's name has the room: why it waits stands below.
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

/** The state of a job, and why it waits, or how many of its labels may be out. */
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

/** The first label that is printed elsewhere, because the rest of the job was moved there; else the number of its labels. */
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
