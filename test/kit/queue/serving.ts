/** Serves a lane as a station does in an agent: gets its lease, and keeps it until the consumer stops. */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Lane } from '../../../src/contract/lane.ts';
import type { Consumer, LaneHandler, LeaseLimits, Queues } from '../../../src/queue/index.ts';
import { Collected } from './samples.ts';

export interface ServeOptions extends NonNullable<Parameters<Queues['consume']>[3]> {
  /** Default: a new one. */
  agentId?: string;
  length?: LeaseLimits;
}

/** Serves a lane, ending each job at once; collects the job's ID, the delivery's number and its note. */
export async function delivered(queues: Queues, lane: Lane): Promise<Collected<unknown>> {
  const got = new Collected<unknown>();
  await serve(queues, lane, async ({ job: { jobId }, delivery, note }) => {
    got.add([jobId, delivery, note]);
    return 'done';
  });
  return got;
}

const LENGTH: LeaseLimits = { contended: 1_000, alone: 1_000 };
const RENEW_MS = 200;

/** Waits while another agent has the lease. @throws as `Queues.consume`, and if it cannot ask for a lease */
export async function serve(
  queues: Queues,
  lane: Lane,
  handler: LaneHandler,
  { agentId = `agent-${randomUUID()}`, length = LENGTH, ...options }: ServeOptions = {},
): Promise<Consumer> {
  const term = `${randomUUID()}.1`;
  let fresh = true;
  const ask = async (): Promise<boolean> => {
    const [answer] = await queues.askLeases(agentId, [{ lane, term, fresh, reaches: true }], length);
    return (answer?.granted ?? null) !== null;
  };
  // On a busy machine an answer may come too late for the agent; it asks again, as an agent does.
  const tooLate = (error: unknown) => {
    if (error instanceof Error && /: no answer within \d+ ms$/.test(error.message)) return false;
    throw error;
  };
  while (!(await ask().catch(tooLate))) await wait(RENEW_MS / 4);
  fresh = false;
  const consumer = await queues.consume(lane, term, handler, options);
  const over = new AbortController();
  void (async () => {
    while (!over.signal.aborted) {
      await wait(RENEW_MS, undefined, { ref: false });
      await ask().catch((error: unknown) => {
        if (error instanceof Error && 'code' in error && error.code === 'closed') over.abort();
      });
    }
  })();
  const stop: Consumer['stop'] = async (how) => {
    await consumer.stop(how);
    if (over.signal.aborted) return;
    over.abort();
    await queues.giveLeaseBack(agentId, lane, term).catch(() => undefined);
  };
  return { pause: () => consumer.pause(), resume: () => consumer.resume(), stop };
}
