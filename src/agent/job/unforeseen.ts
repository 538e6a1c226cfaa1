/** The fault of a job that ends because the agent failed: a render thread crashed, or the agent has a bug. */
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
