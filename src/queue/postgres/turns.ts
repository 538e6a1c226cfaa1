/**
 * Makes a turn in PostgreSQL (`lanes.turn`), for all lanes of a process: a job's end, its last report
 * and the next job of its lane are one round trip and one commit.
 *
 * A turn does not wait for the disk where a lost commit also loses what depends on it: a job whose end is
 * lost is delivered again, and its agent reports again. A turn waits for the disk if it has a lasting report
 * of a job that does not leave the agent's hands in the same commit. So does every note, because a note
 * allows bytes to be sent to a printer.
 */
import type { Pool } from 'pg';
import { z } from 'zod';
import { type Lane, lane as laneSchema } from '../../contract/lane.ts';
import { type QueuedJob, queueId } from '../../contract/queued-job.ts';
import type { Report } from '../../contract/report.ts';
import type { InHand, TakenJob, TurnServer } from '../turns.ts';
import { isConnectionError } from './away.ts';
import { PostgresTemplates } from './templates.ts';

const TURN = {
  name: 'lanes-turn',
  text: 'SELECT * FROM lanes.turn($1, $2, $3, $4, $5, $6, $7)',
};
const NOTES = { name: 'lanes-notes', text: 'SELECT lanes.note($1) AS at' };

const answerRow = z.object({
  what: z.enum(['ended', 'back', 'job', 'row']),
  of_lane: laneSchema,
  id: z.string(),
  delivery: z.int(),
  its_payload: z.string().nullable(),
  its_note: z.string().nullable(),
  its_template: z.string().nullable(),
});
type AnswerRow = z.infer<typeof answerRow>;
const notedRow = z.object({ at: z.int() });

export function postgresTurns(pool: Pool): TurnServer<Report> {
  const kept = new PostgresTemplates(pool);
  return {
    async turn({ ended, back, told, take, number }) {
      const { rows } = await pool.query({
        ...TURN,
        values: [
          told.map(({ name }) => name),
          told.map(({ report }) => JSON.stringify(report)),
          ended.length > 0 ? JSON.stringify(ended) : null,
          back.length > 0 ? JSON.stringify(back) : null,
          JSON.stringify(take),
          number,
          told.some(({ report }) => isLasting(report, [...ended, ...back])),
        ],
      });
      const answers = rows.map((row) => answerRow.parse(row));
      const names = answers.flatMap(({ its_template }) => its_template ?? []);
      const templates = await kept.of(new Set(names));
      return {
        ended: ended.map((inHand) => isSaid(inHand, answers, 'ended')),
        back: back.map((inHand) => isSaid(inHand, answers, 'back')),
        taken: take.map(({ lane, term }) => takenOf(answers, templates, lane, term)),
      };
    },
    async notes(notes) {
      const sent = notes.map(({ inHand, order, note }, at) => ({ at, ...inHand, order, note }));
      const { rows } = await pool.query({ ...NOTES, values: [JSON.stringify(sent)] });
      const stored = new Set(rows.map((row) => notedRow.parse(row).at));
      return notes.map((_, at) => stored.has(at));
    },
    isAway: isConnectionError,
  };
}

function isSaid(
  { lane, id, delivery }: InHand,
  answers: readonly AnswerRow[],
  what: 'ended' | 'back',
): boolean {
  return answers.some(
    (row) => row.what === what && row.of_lane === lane && row.id === id && row.delivery === delivery,
  );
}

function takenOf(
  answers: readonly AnswerRow[],
  templates: ReadonlyMap<string, QueuedJob['template']>,
  lane: Lane,
  term: string,
): TakenJob | null {
  const row = answers.find(({ what, of_lane }) => of_lane === lane && (what === 'job' || what === 'row'));
  if (row === undefined) return null;
  const { id, delivery, its_payload: json, its_note: note } = row;
  const template = templates.get(row.its_template ?? '');
  return { lane, id, delivery, term, json: json ?? '', template, ofRow: row.what === 'row', note };
}

/** Whether losing the report alone would lose it for good: its job does not go in the same commit. */
function isLasting(report: Report, leaving: readonly InHand[]): boolean {
  if (report.kind !== 'job' || report.status === 'printing') return false;
  const id = queueId(report.jobId, report.round ?? 0);
  return !leaving.some((inHand) => inHand.id === id);
}
