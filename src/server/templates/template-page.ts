/** A tenant's templates as an integrator sees them, page by page: what a job may name, without what is drawn. */
import { z } from 'zod';
import type { IntegratorTemplate } from '../../contract/integrator-view.ts';
import { type Template, template } from '../../contract/template.ts';
import { printedAs } from '../../render/template-fields.ts';
import { type Pool, rowsOf } from '../store/pool.ts';
import { fieldsOf } from './record-fields.ts';

const row = z.object({
  id: z.string(),
  name: z.string(),
  body: z.unknown(),
  updated_at: z.date(),
  size: z.int(),
});

/** Templates that are read at a time: each may have some MB. */
const READ_AT_ONCE = 4;
/** A page ends early after this many characters of templates as they are stored. */
const MOST_READ = 8_000_000;

/** By ID. @param after the last ID of the page before */
export async function templatePage(
  pool: Pool,
  tenantId: string,
  { limit, after = '' }: { limit: number; after?: string | undefined },
): Promise<{ templates: IntegratorTemplate[]; next: string | null }> {
  const templates: IntegratorTemplate[] = [];
  let read = 0;
  for (;;) {
    const last = templates.at(-1)?.id ?? after;
    const rows = await rowsOf(
      pool,
      row,
      `SELECT id, name, body, updated_at, length(body::text) AS size FROM platen.templates
       WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT ${READ_AT_ONCE}`,
      [tenantId, last],
    );
    for (const one of rows) {
      // There is one more, so `last` is where the next page begins.
      if (templates.length === limit || (templates.length > 0 && read + one.size > MOST_READ))
        return { templates, next: templates.at(-1)?.id ?? null };
      read += one.size;
      templates.push(shown(one));
    }
    if (rows.length < READ_AT_ONCE) return { templates, next: null };
  }
}

function shown({ id, name, body, updated_at }: z.infer<typeof row>): IntegratorTemplate {
  const saved = template.parse(body);
  const declared = new Map(saved.fields.map((field) => [field.name, field]));
  const uses = printedAs(saved);
  return {
    id,
    name,
    language: saved.language,
    size: sizeOf(saved),
    fields: fieldsOf(saved).map((field) => ({
      name: field,
      printedAs: [...(uses.get(field) ?? [])],
      ifMissing: declared.get(field)?.default ?? null,
      sample: declared.get(field)?.sample ?? null,
    })),
    updatedAt: updated_at.toISOString(),
  };
}

function sizeOf({ width, height }: Template): { width: number; height: number } | null {
  return width === undefined || height === undefined ? null : { width, height };
}
