/**
 * Jobs that come with a ring. When an agent has asked a lane and got no job, the service repeats the agent's last question as
 * soon as the lane has one, and sends that job with the ring. Such a ring may come late or twice, so it counts only for the
 * last question, and only once.
 */
import type { Lane } from '../../contract/lane.ts';
import type { JobQuestion, TakenJob } from '../turns.ts';

type Question = Pick<JobQuestion, 'lane' | 'term' | 'number'>;

interface LastQuestion {
  term: string;
  number: number;
  now: 'asked' | 'none' | 'not wanted' | 'brought';
  /** What was brought, until the agent asks for it. */
  job?: TakenJob | undefined;
}

export class BroughtJobs {
  readonly #last = new Map<Lane, LastQuestion>();

  /** Returns the job that was brought; undefined: the caller has to ask the service. */
  take({ lane, term, number }: Question): TakenJob | undefined {
    const last = this.#last.get(lane);
    if (last?.job !== undefined && last.term === term) {
      const { job } = last;
      last.job = undefined;
      return job;
    }
    this.#last.set(lane, { term, number, now: 'asked' });
    return undefined;
  }

  /** The service has answered that the lane has no job. */
  none(question: Question): void {
    const last = this.#lastOf(question);
    if (last?.now === 'asked') last.now = 'none';
  }

  /** The agent wants no job. @returns the job that was brought, for the caller to hand back */
  forget(lane: Lane, term: string): TakenJob | undefined {
    const last = this.#last.get(lane);
    if (last?.term !== term) return undefined;
    const { job } = last;
    last.job = undefined;
    if (last.now !== 'brought') last.now = 'not wanted';
    return job;
  }

  /**
   * @returns true: nobody will ask for this job, so the caller hands it back. False: it is kept for the next question, or a later
   *   question was asked already and its answer brings the job
   */
  bring(question: Question, job: TakenJob): boolean {
    const last = this.#lastOf(question);
    if (last?.now === 'none') {
      last.now = 'brought';
      last.job = job;
    }
    return last?.now === 'not wanted';
  }

  #lastOf({ lane, term, number }: Question): LastQuestion | undefined {
    const last = this.#last.get(lane);
    return last?.term === term && last.number === number ? last : undefined;
  }
}
