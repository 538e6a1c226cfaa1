/** The draft of a template: what would not print yet. At most one for each template, which prints as it was saved before. */
import { z } from 'zod';
import { type Queryable, rowOf } from '../store/pool.ts';

const draftRow = z.object({ body: z.unknown(), who: z.string().nullable(), at: z.date(), stamp: z.string() });
export type DraftRow = z.infer<typeof draftRow>;

export async function draftOf(db: Queryable, id: string): Promise<DraftRow | undefined> {
  const sql = 'SELECT *, xmin::text AS stamp FROM platen.template_drafts WHERE template_id = $1';
  return await rowOf(db, draftRow, sql, [id]);
}

/** In the transaction that has locked the template. */
export async function keepDraft(
  db: Queryable,
  id: string,
  { body, who }: { body: string; who: string },
): Promise<void> {
  await db.query(
    `INSERT INTO platen.template_drafts AS d (template_id, body, who) VALUES ($1, $2, $3)
     ON CONFLICT (template_id) DO UPDATE SET body = excluded.body, who = excluded.who, at = now()`,
    [id, body, who],
  );
}

/** In the transaction that has locked the template. */
export async function dropDraft(db: Queryable, id: string): Promise<void> {
  await db.query('DELETE FROM platen.template_drafts WHERE template_id = $1', [id]);
}

/** The version that a person names who saves: it changes with the template and its draft. @param stamp the template's */
export function versionOf(stamp: string, draft: Pick<DraftRow, 'stamp'> | undefined): string {
  return draft === undefined ? stamp : `${stamp}/${draft.stamp}`;
}
