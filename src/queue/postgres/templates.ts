/** Fetches the templates of the jobs that this process takes from PostgreSQL, each one once. */
import type { Pool } from 'pg';
import { z } from 'zod';
import type { QueuedJob } from '../../contract/queued-job.ts';
import { template } from '../../contract/template.ts';
import { keptTemplates } from '../kept-templates.ts';

const found = z.object({ name: z.string(), template });

export class PostgresTemplates {
  readonly #pool: Pool;
  readonly #known = keptTemplates();

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /**
   * Templates by their names, `<tenant>/<hash>`; a template that cannot be read is left out.
   * @throws when the database fails
   */
  async of(names: ReadonlySet<string>): Promise<Map<string, QueuedJob['template']>> {
    const known = new Map<string, QueuedJob['template']>();
    const missing: string[] = [];
    for (const name of names) {
      const one = this.#known.get(name);
      if (one === undefined) missing.push(name);
      else known.set(name, one);
    }
    if (missing.length === 0) return known;
    const { rows } = await this.#pool.query('SELECT name, template FROM platen.templates_of_jobs($1)', [
      missing,
    ]);
    for (const row of rows) {
      const { data } = found.safeParse(row);
      if (data === undefined) continue;
      known.set(data.name, data.template);
      this.#known.set(data.name, data.template, { size: JSON.stringify(data.template).length });
    }
    return known;
  }
}
