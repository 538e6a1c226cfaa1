/**
 * Makes a turn in PostgreSQL (`lanes.turn`), for all lanes of a process: a job's end, its last report
 * and the next job of its lane are one round trip and one commit.
 *
 * A turn need not wait for the disk if a lost commit would also lose what depends on it: a job whose end is lost is delivered
 * again, and its agent reports again. A turn waits for the disk if it has a lasting report of a job that stays in the agent's
 * hands after this commit. Every note waits too, because it allows the agent to send bytes to a printer.
 */
import type { Pool } from 'pg';
import { z } from 'zod';
import { type QueuedJob, queueId } from '../../contract/queued-job.ts';
import type { Report } from '../../contract/report.ts';
import type { JobQuestion, LaneDelivery, TakenJob, TurnStore } from '../turns.ts';
import { isConnectionError } from './away.ts';
import { PostgresTemplates } from './templates.ts';

const TURN = {
  name: 'lanes-turn',
  text: 'SELECT * FROM lanes.turn($1, $2, $3, $4, $5, $6)',
};
const NOTES = { name: 'lanes-notes', text: 'SELECT lanes.note($1) AS at' };

const answerRow = z.object({
  what: z.enum(['ended', 'back', 'job', 'row']),
  at: z.int(),
  id: z.string(),
  delivery: z.int(),
  its_payload: z.string().nullable(),
  its_note: z.string().nullable(),
  its_template: z.string().nullable(),
});
type AnswerRow = z.infer<typeof answerRow>;
const notedRow = z.object({ at: z.int() });

export function postgresTurns(pool: Pool): TurnStore<Report> {
  const kept = new PostgresTemplates(pool);
  return {
    async turn({ ended, back, told, take }) {
      const { rows } = await pool.query({
        ...TURN,
        values: [
          told.map(({ name }) => name),
          told.map(({ report }) => JSON.stringify(report)),
          ended.length > 0 ? numbered(ended) : null,
          back.length > 0 ? numbered(back) : null,
          numbered(take),
          told.some(({ report }) => isLasting(report, [...ended, ...back])),
        ],
      });
      const answers = rows.map((row) => answerRow.parse(row));
      const names = answers.flatMap(({ its_template }) => its_template ?? []);
      const templates = await kept.of(new Set(names));
      const said = (what: AnswerRow['what']) =>
        new Set(answers.flatMap((row) => (row.what === what ? row.at : [])));
      const [saidEnded, saidBack] = [said('ended'), said('back')];
      return {
        ended: ended.map((_, at) => saidEnded.has(at)),
        back: back.map((_, at) => saidBack.has(at)),
        taken: take.map((ask, at) => takenOf(answers, templates, ask, at)),
      };
    },
    async notes(notes) {
      const sent = numbered(notes.map(({ inHand, order, note }) => ({ ...inHand, order, note })));
      const { rows } = await pool.query({ ...NOTES, values: [sent] });
      const stored = new Set(rows.map((row) => notedRow.parse(row).at));
      return notes.map((_, at) => stored.has(at));
    },
    isAway: isConnectionError,
  };
}

/** The list as JSON. Each entry gets its place (`at`), by which the answer's rows refer to it. */
function numbered(list: readonly object[]): string {
  return JSON.stringify(list.map((one, at) => ({ ...one, at })));
}

function takenOf(
  answers: readonly AnswerRow[],
  templates: ReadonlyMap<string, QueuedJob['template']>,
  { lane, term }: JobQuestion,
  at: number,
): TakenJob | null {
  const row = answers.find((one) => one.at === at && (one.what === 'job' || one.what === 'row'));
  if (row === undefined) return null;
  const { id, delivery, its_payload: json, its_note: note } = row;
  const template = templates.get(row.its_template ?? '');
  return { lane, id, delivery, term, json: json ?? '', template, ofRow: row.what === 'row', note };
}

/** Whether the loss of this commit would lose the report for good: its job neither ends nor goes back in the same commit. */
function isLasting(report: Report, leaving: readonly LaneDelivery[]): boolean {
  if (report.kind !== 'job' || report.status === 'printing') return false;
  const id = queueId(report.jobId, report.round ?? 0);
  return !leaving.some((inHand) => inHand.id === id);
}
