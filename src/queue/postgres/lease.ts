/** Leases in PostgreSQL: a row for each lane, locked in one order so that concurrent questions cannot deadlock. */
import { z } from 'zod';
import { type Lane, lane } from '../../contract/lane.ts';
import { HELD, type LeaseLimits, type LeaseQuestion, type LeaseStore, type StoredAnswer } from '../lease.ts';
import { QueueError } from '../queue-error.ts';
import { CHANNEL, markedRing } from './bell.ts';

/**
 * now() is when the statement began. So it is never earlier than the agent's question; and it does not move while the statement
 * waits for a lock, so no lease is taken over before it has ended. With `LIMIT 1` PostgreSQL looks into each lane once for a
 * job; with EXISTS it may read and hash all jobs that have not ended.
 */
const ASK = `
  WITH asked AS (
    SELECT * FROM json_to_recordset($1) AS asked(lane text, agent text, term text, reaches boolean, fresh boolean,
      keeps float8, question bigint, shorter integer, longer integer)
  ), found AS (
    SELECT l.lane, asked.agent, asked.term, asked.reaches, asked.keeps, asked.question, asked.shorter, asked.longer,
      l.question AS before, l.until,
      l.agent_id = asked.agent AND split_part(l.term, '.', 1) = split_part(asked.term, '.', 1) AS same,
      l.agent_id = asked.agent AND (asked.fresh OR split_part(l.term, '.', 1) = split_part(asked.term, '.', 1)) AS mine,
      l.rival_id <> asked.agent AND l.rival_until > now() AS contended,
      l.rival_id <> asked.agent AND l.rival_until > now() AND l.rival_reaches AS wanted
    FROM lanes.lease AS l JOIN asked USING (lane) ORDER BY l.lane FOR UPDATE OF l
  ), decided AS (
    SELECT *, mine OR (until <= now() AND (reaches OR NOT wanted)) AS granted,
      CASE WHEN contended THEN shorter ELSE longer END AS ms
    FROM found
  )
  UPDATE lanes.lease AS l SET
    agent_id = CASE WHEN granted THEN agent ELSE l.agent_id END,
    term = CASE WHEN granted THEN d.term ELSE l.term END,
    until = CASE WHEN NOT granted THEN l.until
      WHEN same AND d.question > before THEN greatest(now() + make_interval(secs => ms / 1000.0),
        least(now() + make_interval(secs => keeps / 1000.0), l.until))
      ELSE greatest(CASE WHEN mine THEN l.until END, now() + make_interval(secs => ms / 1000.0)) END,
    turn = CASE WHEN granted AND l.term <> d.term THEN 0 ELSE l.turn END,
    question = CASE WHEN granted THEN greatest(d.question, CASE WHEN same THEN before END) ELSE l.question END,
    rival_id = CASE WHEN granted OR (wanted AND NOT reaches) THEN l.rival_id ELSE agent END,
    rival_reaches = CASE WHEN granted OR (wanted AND NOT reaches) THEN l.rival_reaches ELSE reaches END,
    rival_until = CASE WHEN granted OR (wanted AND NOT reaches) THEN l.rival_until
      ELSE now() + make_interval(secs => shorter / 1000.0) END
  FROM decided AS d WHERE l.lane = d.lane
  RETURNING l.lane, granted, ms, wanted, CASE WHEN granted THEN l.canceled ELSE '{}' END AS canceled,
    granted AND (SELECT true FROM lanes.job AS j WHERE j.lane = l.lane AND j.ended_at IS NULL LIMIT 1) IS TRUE AS waits`;

const answerRow = z.object({
  lane,
  granted: z.boolean(),
  ms: z.int(),
  wanted: z.boolean(),
  canceled: z.array(z.string()),
  waits: z.boolean(),
});
const holderRow = z.object({ lane, agent_id: z.string() });

/**
 * Least time from one statement to the next, ms, when few agents ask together and when many do. Each statement is a commit, so
 * all that this process's agents ask in between goes into one.
 */
const GATHER = { few: 50, many: 100 };
const MANY = 4;
/**
 * Most questions of one agent that wait for a statement. An agent asks one at a time, and again where an answer is late. Of a
 * stolen one's about one lane each takes a statement of its own, and another agent's would wait behind them all.
 */
const MOST_WAITING = 4;

interface Asking {
  agentId: string;
  asks: readonly LeaseQuestion[];
  length: LeaseLimits;
  answers: PromiseWithResolvers<StoredAnswer[]>;
}

/**
 * @param query runs on a connection that finds the schema `lanes`
 * @param onWaiting called for a granted lane that has a job, even if the job is in hand: a term that lost its lease and has it
 *   again cannot know whether one is
 */
export function postgresLeases(
  query: (sql: string, values: readonly unknown[]) => Promise<{ rows: unknown[] }>,
  onWaiting: (lane: Lane) => void,
): LeaseStore {
  let waiting: Asking[] = [];
  /** How many of `waiting` are each agent's. */
  const waitingOf = new Map<string, number>();
  let nextAt = 0;

  function askSoon(): void {
    setTimeout(askWaiting, Math.max(0, nextAt - performance.now()));
  }

  function askWaiting(): void {
    const lanes = new Set<Lane>();
    // A statement can change a row only once, so the second of two agents that want one lane goes with the next statement.
    const { now = [], later = [] } = Object.groupBy(waiting, ({ asks }) => {
      if (asks.some((ask) => lanes.has(ask.lane))) return 'later';
      for (const ask of asks) lanes.add(ask.lane);
      return 'now';
    });
    nextAt = performance.now() + (now.length < MANY ? GATHER.few : GATHER.many);
    waiting = later;
    waitingOf.clear();
    for (const { agentId } of later) waitingOf.set(agentId, (waitingOf.get(agentId) ?? 0) + 1);
    if (later.length > 0) askSoon();
    askTogether(now).then(
      (answers) => {
        for (const one of now) one.answers.resolve(one.asks.flatMap((ask) => answers.get(ask.lane) ?? []));
      },
      (error: unknown) => {
        for (const one of now) one.answers.reject(error);
      },
    );
  }

  async function askTogether(together: readonly Asking[]): Promise<Map<Lane, StoredAnswer>> {
    const asked = together.flatMap(({ agentId, asks, length }) =>
      asks.map(({ lane, term, reaches, fresh, keeps }) => ({
        ...{ lane, agent: agentId, term, reaches, fresh },
        ...{ keeps: keeps?.ms ?? 0, question: keeps?.question ?? 0 },
        ...{ shorter: length.contended, longer: length.alone },
      })),
    );
    const values = [JSON.stringify(asked)];
    let { rows } = await query(ASK, values);
    if (rows.length < asked.length) {
      const insert = `INSERT INTO lanes.lease (lane) SELECT unnest($1::text[]) AS id ORDER BY id ON CONFLICT DO NOTHING`;
      await query(insert, [asked.map((ask) => ask.lane)]);
      rows = (await query(ASK, values)).rows;
    }
    return new Map(
      rows.map((row) => {
        const { granted, ms, waits, ...answer } = answerRow.parse(row);
        if (waits) onWaiting(answer.lane);
        return [answer.lane, { ...answer, granted: granted ? ms : null }];
      }),
    );
  }

  return {
    ask(agentId, asks, length) {
      const before = waitingOf.get(agentId) ?? 0;
      if (before >= MOST_WAITING)
        return Promise.reject(new QueueError('unavailable', 'the agent asks for leases faster than it may'));
      waitingOf.set(agentId, before + 1);
      const answers = Promise.withResolvers<StoredAnswer[]>();
      waiting.push({ agentId, asks, length, answers });
      if (waiting.length === 1) askSoon();
      return answers.promise;
    },
    async giveBack(agentId, of, term) {
      await query(
        `UPDATE lanes.lease SET agent_id = '', term = '', until = '-infinity'
         WHERE lane = $1 AND agent_id = $2 AND term = $3`,
        [of, agentId, term],
      );
    },
    async mark(of, name, on) {
      await query(
        `WITH marked AS (
           INSERT INTO lanes.lease AS l (lane, canceled) VALUES ($1, CASE WHEN $3 THEN ARRAY[$2] ELSE '{}' END)
           ON CONFLICT (lane) DO UPDATE SET canceled = array_remove(l.canceled, $2) || excluded.canceled)
         SELECT pg_notify('${CHANNEL}', $4) WHERE $3 OR $2 = '${HELD}'`,
        [of, name, on, markedRing(of, name)],
      );
    },
    async holders(lanes) {
      const { rows } = await query(
        `SELECT lane, agent_id FROM lanes.lease WHERE lane = ANY($1) AND until > now()`,
        [lanes],
      );
      const held = z.array(holderRow).parse(rows);
      return new Map(held.map((row) => [row.lane, row.agent_id]));
    },
  };
}
