/**
 * Jobs that a ring brings. An agent that has asked a lane in vain is brought the lane's next job: the last question is asked
 * once more by the service. Such a ring may be late, or come twice: it counts for the last question, and once.
 */
import type { Lane } from '../../contract/lane.ts';
import type { JobAsk, TakenJob } from '../turns.ts';

type Question = Pick<JobAsk, 'lane' | 'term' | 'number'>;

interface LastQuestion {
  term: string;
  number: number;
  now: 'asked' | 'none' | 'not wanted' | 'brought';
  /** Until it is asked for. */
  job?: TakenJob | undefined;
}

export class BroughtJobs {
  readonly #last = new Map<Lane, LastQuestion>();

  /** What was brought, or undefined: then the question has to be asked. */
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

  /** The answer was that there is none. */
  none(question: Question): void {
    const last = this.#lastOf(question);
    if (last?.now === 'asked') last.now = 'none';
  }

  /** No job is wanted. @returns what was brought, and goes back */
  forget(lane: Lane, term: string): TakenJob | undefined {
    const last = this.#last.get(lane);
    if (last?.term !== term) return undefined;
    const { job } = last;
    last.job = undefined;
    if (last.now !== 'brought') last.now = 'not wanted';
    return job;
  }

  /** @returns whether the job goes back: nobody will ask for it. Where a later question was asked, that one brings it. */
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
