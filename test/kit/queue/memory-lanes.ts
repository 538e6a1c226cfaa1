/** Lanes in this process's memory, for what needs the consumer's ways and no server. They lose nothing, and have one agent. */
import type { Lane } from '../../../src/contract/lane.ts';
import type { Report } from '../../../src/contract/report.ts';
import { Bell } from '../../../src/queue/bell.ts';
import type { LaneStore } from '../../../src/queue/lane-store.ts';
import { ErrorLogger, type QueueLogger } from '../../../src/queue/queue-log.ts';
import { Queues } from '../../../src/queue/queues.ts';
import { type LaneDelivery, type TakenJob, type TurnStore, Turns } from '../../../src/queue/turns.ts';

/** Nothing rings from outside. */
class OwnBell extends Bell {
  protected override begin(): void {}
  protected override end(): void {}
}

interface Waiting {
  id: string;
  json: string;
  note: string | null;
  deliveries: number;
}

/** @param onReport called with each report, in the order of their publishing */
export function memoryQueues(logger: QueueLogger, onReport: (report: Report) => void): Queues {
  const lanes = new Map<Lane, Waiting[]>();
  const bell = new OwnBell();
  const errors = new ErrorLogger(logger);
  const jobsOf = (lane: Lane) => {
    const jobs = lanes.get(lane) ?? [];
    lanes.set(lane, jobs);
    return jobs;
  };
  const end = ({ lane, id }: LaneDelivery): boolean => {
    const jobs = jobsOf(lane);
    const at = jobs.findIndex((job) => job.id === id);
    if (at >= 0) jobs.splice(at, 1);
    return at >= 0;
  };
  const take = (lane: Lane, term: string, beside: readonly string[]): TakenJob | null => {
    const next = jobsOf(lane).find(({ id }) => !beside.includes(id));
    if (next === undefined) return null;
    const { id, json, note } = next;
    return { lane, term, id, json, note, delivery: ++next.deliveries, template: undefined, ofRow: false };
  };
  const server: TurnStore<never> = {
    turn: async ({ ended, back, take: wanted }) => ({
      ended: ended.map(end),
      back: back.map(() => true),
      taken: wanted.map(({ lane, term, beside }) => take(lane, term, beside)),
    }),
    notes: async (notes) =>
      notes.map(({ inHand, note }) => {
        const job = jobsOf(inHand.lane).find(({ id }) => id === inHand.id);
        if (job !== undefined) job.note = note;
        return job !== undefined;
      }),
    isAway: () => false,
  };
  const turns = new Turns<never>(server, errors);
  const store: LaneStore = {
    kind: 'postgres',
    leases: {
      ask: async (_, asks, { alone }) =>
        asks.map(({ lane }) => ({ lane, granted: alone, wanted: false, canceled: [] })),
      giveBack: async () => undefined,
      mark: async () => undefined,
      holders: async () => new Map(),
    },
    publish: async (report) => {
      onReport(report);
      return null;
    },
    reports: {
      unread: async () => 0,
      reader: () => ({ start: () => undefined, stop: async () => undefined }),
    },
    add: async (lane, jobs) => {
      const added = jobs.map(({ queueId: id, json }) => ({ id, json, note: null, deliveries: 0 }));
      jobsOf(lane).push(...added);
      bell.ring(lane, '');
    },
    look: async () => null,
    remove: async () => false,
    takeAway: async () => false,
    turnsOf: () => turns,
    listen: (lane, ring) => bell.listen(lane, ring),
    answers: () => true,
    ping: async () => undefined,
    close: async () => turns.close(),
  };
  return new Queues(store, { logger }, errors);
}
