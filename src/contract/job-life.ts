/**
 * The life of a job, written once: its states, who may change which, and what each means for a person. Service, agent,
 * database and `docs/jobs.md` follow from this table.
 *
 *   accepted ──▶ queued ◀───── taken, handed back ─────▶ printing
 *                  ▲ └──────────────────┬────────────────────┘
 *                  │                    │ the agent's outcome, a person's cancellation, the service where a job is lost
 *                  │       ┌────────────┼───────────┬────────────┐
 *                  │       ▼            ▼           ▼            ▼
 *                  │    printed       failed       held       canceled
 *                  │       ▲            └─────┬─────┘            ▲
 *                  │       └── it is all out ─┼─ nothing more ───┘
 *                  └───────── it goes on ─────┘
 */
import { z } from 'zod';
import { wordsOf } from './define-faults.ts';
import { JOB_FAULTS, type JobFault } from './fault.ts';

export const JOB_STATES = {
  queued: {
    phase: 'under way',
    data: 'kept',
    means: 'It waits for its turn, or for an agent that serves its printer.',
  },
  printing: {
    phase: 'under way',
    data: 'kept',
    means: 'An agent has it. `reasons` says what the printer waits for; it goes on by itself.',
  },
  printed: { phase: 'over', data: 'kept for a while', means: 'Every label is out, as the printer says.' },
  failed: {
    phase: 'over',
    data: 'kept for a while',
    means: 'The rest is certain not to have been printed; `error` says why.',
  },
  canceled: {
    phase: 'over',
    data: 'kept for a while',
    means:
      'A person wants no more of it. Of `uncertain` labels somebody still has to say whether they are out.',
  },
  held: {
    phase: 'undecided',
    data: 'kept',
    means: 'A person has to look which of the `uncertain` labels are out, and decide.',
  },
} as const satisfies Record<
  string,
  {
    /** `under way`: it goes on by itself. `undecided`: only when a person has decided. */
    phase: 'under way' | 'undecided' | 'over';
    /** Label data is personal: kept while the job waits for something, and then for pictures and reprints. */
    data: 'kept' | 'kept for a while';
    means: string;
  }
>;

export type JobStatus = keyof typeof JOB_STATES;
export const jobStatus = z.enum(wordsOf(JOB_STATES));
export const JOB_STATUSES: readonly JobStatus[] = jobStatus.options;

/** `late agent`: by a report that is older than what is known already. */
type JobCause = 'agent' | 'late agent' | 'person' | 'service' | 'restore';

/** All changes there are: a printed job stays printed, and a canceled one is never queued again. */
export const JOB_CHANGES: readonly {
  from: readonly JobStatus[];
  to: readonly JobStatus[];
  by: JobCause;
  when: string;
}[] = [
  {
    from: ['queued', 'printing', 'failed', 'held'],
    to: JOB_STATUSES,
    by: 'agent',
    when: 'It took the job, handed it back, or knows how it ended. Also of a job that was held because it was lost.',
  },
  {
    from: ['canceled'],
    to: ['printed', 'failed', 'canceled', 'held'],
    by: 'agent',
    when: 'It had begun the job before that was canceled, and says what came out.',
  },
  {
    from: ['held'],
    to: ['printed'],
    by: 'late agent',
    when: 'It has counted the labels; the one that got the job after it could only hold it.',
  },
  {
    from: ['queued', 'printing', 'failed', 'held'],
    to: ['canceled'],
    by: 'person',
    when: '`platen job cancel`: once nothing more of it can be printed.',
  },
  {
    from: ['failed', 'held'],
    to: ['queued'],
    by: 'person',
    when: '`platen job retry` (failed), `platen job release` (held): it goes on from a label.',
  },
  {
    from: ['failed', 'held', 'canceled'],
    to: ['printed'],
    by: 'person',
    when: '`platen job release` from beyond the last label: all are out.',
  },
  {
    from: ['queued', 'printing'],
    to: ['held'],
    by: 'service',
    when: 'The queue has lost the job, or how it ended, and some of it may be out.',
  },
  {
    from: ['queued'],
    to: ['held'],
    by: 'service',
    when: 'It waited when its tenant lost the permission for printer commands or the grant of its printer, or is a test whose printer is not virtual any more.',
  },
  {
    from: ['queued'],
    to: ['failed'],
    by: 'service',
    when: 'On its way to the queue: what another version stored of it cannot be read.',
  },
  {
    from: ['queued', 'printing', 'failed', 'held'],
    to: ['held'],
    by: 'restore',
    when: '`platen restore`: it may have been printed since the back-up.',
  },
];

/** The states from which a job may change to this one. */
export function statesBefore(to: JobStatus, by: JobCause): JobStatus[] {
  return JOB_CHANGES.filter((change) => change.by === by && change.to.includes(to)).flatMap(
    ({ from }) => from,
  );
}

export function mayBecome(from: JobStatus, to: JobStatus, by: JobCause): boolean {
  return statesBefore(to, by).includes(from);
}

/** The states that this cause can change. */
export function statesChangedBy(by: JobCause): JobStatus[] {
  return JOB_STATUSES.filter((from) => JOB_STATUSES.some((to) => mayBecome(from, to, by)));
}

export function statesIn(phase: (typeof JOB_STATES)[JobStatus]['phase']): JobStatus[] {
  return JOB_STATUSES.filter((status) => JOB_STATES[status].phase === phase);
}

/** Whether a job stays as it is until a person does something. */
export function hasEnded(status: JobStatus): boolean {
  return JOB_STATES[status].phase !== 'under way';
}

/**
 * How a fault ends a job: as the table of faults says, but held where labels may be under way.
 * @param labels `printed` are certainly out; none from `intent` on was sent
 */
export function endedBy(error: JobFault, { printed, intent }: { printed: number; intent: number }) {
  return JOB_FAULTS[error.code].outcome === 'failed' && intent <= printed
    ? { status: 'failed' as const, error }
    : { status: 'held' as const, error, uncertain: { from: printed, to: intent } };
}
