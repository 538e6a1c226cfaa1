/** What a job says whose agent failed without a fault of the job's own. */
import { faultFor, type JobFault } from '../../contract/fault.ts';
import { because } from '../../contract/reason.ts';
import { RenderCrash } from '../../rendering/render-pool.ts';

export function unforeseen(error: unknown): JobFault {
  const reason =
    error instanceof RenderCrash
      ? because('rendering-ended', { detail: error.message.slice(0, 1_000) })
      : because('agent-failed', {});
  return faultFor('internal', reason).fault;
}
