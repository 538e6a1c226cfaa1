/**
 * Compares what the service says about a job with what is on the paper, label by label.
 *
 * Every label of a `printed` job must be there. Of any other job, the labels that are called printed must be
 * there and the others must not. Only labels that are named as uncertain may or may not be there. No label
 * may be there twice or be spoiled. No job may be held because a rule of the agent's own was broken, though
 * that is a safe end.
 */
import type { JobView } from '../../src/contract/job.ts';
import type { PaperLabel } from './paper-printer.ts';
import { labelId, type PostedJob } from './posted-jobs.ts';

export interface Violation {
  kind: 'lost' | 'doubled' | 'spoiled' | 'order' | 'stuck' | 'fallen';
  /** What to look at. */
  text: string;
  job?: PostedJob;
}

/** How often each number stands on the paper, spoiled labels left out. */
export function counted(paper: readonly PaperLabel[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { ids, spoiled } of paper) {
    for (const id of spoiled === undefined ? ids : []) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}

/** How many of a record's copies have to be there at least, and may be there at most. */
function bounds(job: PostedJob, view: JobView, record: number): [number, number] {
  let least = 0;
  let most = 0;
  for (let label = record * job.copies; label < (record + 1) * job.copies; label++) {
    const certainty = certaintyOf(label, view);
    if (certainty === 'out') least++;
    if (certainty !== 'not out') most++;
  }
  return [least, most];
}

function certaintyOf(label: number, view: JobView): 'out' | 'not out' | 'uncertain' {
  if (view.status === 'printed') return 'out';
  const { uncertain } = view;
  if (uncertain !== null && label >= uncertain.from && label < uncertain.to) return 'uncertain';
  return label < (uncertain?.from ?? view.labels.printed) ? 'out' : 'not out';
}

export function judgeJob(job: PostedJob, view: JobView, counts: ReadonlyMap<string, number>): Violation[] {
  const found: Violation[] = [];
  const said = `job ${job.number} (${view.id}) is ${view.status}, ${describe(view)}`;
  for (let record = 0; record < job.records; record++) {
    const there = counts.get(labelId(job, record)) ?? 0;
    const [least, most] = bounds(job, view, record);
    const text = `${said}; ${labelId(job, record)} is there ${there} times, expected ${least} to ${most}`;
    if (there < least) found.push({ kind: 'lost', text, job });
    if (there > most) found.push({ kind: 'doubled', text, job });
  }
  if (view.error?.code === 'internal') found.push({ kind: 'fallen', text: said, job });
  return found;
}

export function describe({ labels, uncertain, error, reasons }: JobView): string {
  const range = uncertain === null ? '' : `, uncertain ${uncertain.from} to ${uncertain.to}`;
  const why = error === null ? '' : `, ${error.code}: ${error.message}`;
  return `${labels.printed} of ${labels.total} printed, ${labels.sent} sent${range}${why} [${reasons.join(' ')}]`;
}

/** Labels of a job that can't be used: two in one, or without their format. */
export function judgePaper(name: string, paper: readonly PaperLabel[]): Violation[] {
  return paper.flatMap(({ ids, spoiled }, index) => {
    if (spoiled === undefined) return [];
    return [
      { kind: 'spoiled' as const, text: `${name}: label ${index + 1} (${ids.join(', ')}): ${spoiled}` },
    ];
  });
}

/** Jobs that went through without a person come out in the order in which they were accepted. */
export function judgeOrder(
  name: string,
  jobs: readonly PostedJob[],
  paper: readonly PaperLabel[],
): Violation[] {
  const numbers = new Map(jobs.map((job) => [job.number, job]));
  const found: Violation[] = [];
  let highest = -1;
  for (const { ids } of paper) {
    const number = Number(/^K(\d+)R/.exec(ids[0] ?? '')?.[1] ?? Number.NaN);
    const job = numbers.get(number);
    if (job === undefined) continue;
    if (number < highest) {
      const text = `${name}: job ${number} (${job.id}) came out after job ${highest} had begun`;
      if (!found.some((one) => one.job === job)) found.push({ kind: 'order', text, job });
    }
    highest = Math.max(highest, number);
  }
  return found;
}
