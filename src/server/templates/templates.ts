/**
 * The templates of a tenant. Importing one under a name that the tenant has replaces it and keeps its ID, so that
 * integrators' requests go on working; jobs that are queued carry their own copy and do not change.
 */
import { LRUCache } from 'lru-cache';
import { v7 as uuid } from 'uuid';
import { z } from 'zod';
import type { TemplateDraft, TemplateView } from '../../contract/admin.ts';
import { because } from '../../contract/reason.ts';
import { designedTemplate, type Template, template, templateSchemaFor } from '../../contract/template.ts';
import type { TemplateProblem } from '../../contract/template-problem.ts';
import { templateRemains } from '../../contract/template-remains.ts';
import { type CheckPool, CheckStopped, type CheckTimes } from '../../rendering/check-pool.ts';
import {
  type Fault,
  faultAt,
  faultsOf,
  ProblemError,
  parseBody,
  payloadInvalid,
  shorten,
} from '../problems.ts';
import {
  type Also,
  onlyRow,
  type Pool,
  type Queryable,
  rowOf,
  rowsOf,
  sqlState,
  transaction,
} from '../store/pool.ts';
import { printerCommandsOf, tenantRules } from '../tenants/tenants.ts';
import { fieldsOf } from './record-fields.ts';
import { type DraftRow, draftOf, dropDraft, keepDraft, versionOf } from './template-drafts.ts';
import { lockTemplates, requireRoom, type TemplateLimits } from './template-room.ts';
import { keepVersion } from './template-versions.ts';

const templateRow = z.object({
  id: z.string(),
  name: z.string(),
  /** As it was sent: what its writer left out stays left out, and its members stay in their order. */
  body: z.unknown(),
  created_at: z.date(),
  updated_at: z.date(),
});
const ofTenant = templateRow.extend({ ...tenantRules, stamp: z.string(), size: z.int() });
type Row = z.infer<typeof templateRow>;
type ShownTemplate = TemplateView & { version: string; template: unknown; draft?: TemplateDraft };
export type SavedTemplate = {
  id: string;
  template: Template;
  /** The tenant's raw templates may set printers up. */
  printerCommands: boolean;
  /** The tenant's jobs are refused where the label does not fit the printer's media. */
  mediaMustFit: boolean;
  /** Changes whenever the template's row is written: `platen.accept_jobs` compares it. */
  stamp: string;
};

/** Characters of all templates that are kept after they were read. */
const KEPT = 32_000_000;

/** Templates that a list reads at a time: each may have some MB, and a tenant thousands of them. */
const READ_AT_ONCE = 4;

/** ms for the check of a template; large templates with many barcodes take a second. */
const TIMES: CheckTimes = { wait: 20_000, run: 10_000 };

const UNIQUE_VIOLATION = '23505';

export class Templates {
  readonly #pool: Pool;
  readonly #checks: CheckPool;
  readonly #limits: TemplateLimits;
  readonly #times: CheckTimes;
  readonly #kept = new LRUCache<string, SavedTemplate>({ maxSize: KEPT });

  constructor(pool: Pool, checks: CheckPool, limits: TemplateLimits, times: CheckTimes = TIMES) {
    this.#pool = pool;
    this.#checks = checks;
    this.#limits = limits;
    this.#times = times;
  }

  /** @throws ProblemError `payload-invalid` with JSON pointers, `tenant-not-found`, `templates-limit`, `not-ready` */
  async import(
    tenantId: string,
    body: unknown,
    who: string,
    also?: Also<{ created: boolean; id: string; name: string }>,
  ): Promise<{ created: boolean; view: TemplateView }> {
    const checked = await this.#parsed(tenantId, body);
    const warnings = await this.#warnings(tenantId, checked);
    const row = await transaction(this.#pool, async (client) => {
      await lockTemplates(client, tenantId);
      const saved = await onlyRow(
        client,
        templateRow.extend({ created: z.boolean() }),
        `INSERT INTO platen.templates AS t (id, tenant_id, name, body) VALUES ($1, $2, $3, $4)
         ON CONFLICT (tenant_id, name) DO UPDATE SET body = excluded.body, updated_at = now()
         RETURNING *, t.id = $1 AS created`,
        [uuid(), tenantId, checked.name, sentText(body, checked.name)],
      );
      await this.#keep(client, { tenantId, ...saved }, who);
      await also?.(client, saved);
      return saved;
    });
    return { created: row.created, view: { ...view(row), warnings: [...warnings] } };
  }

  async list(tenantId: string): Promise<TemplateView[]> {
    const views: TemplateView[] = [];
    for (;;) {
      const rows = await rowsOf(
        this.#pool,
        templateRow,
        'SELECT * FROM platen.templates WHERE tenant_id = $1 AND name > $2 ORDER BY name LIMIT $3',
        [tenantId, views.at(-1)?.name ?? '', READ_AT_ONCE],
      );
      views.push(...rows.map(view));
      if (rows.length < READ_AT_ONCE) return views;
    }
  }

  /** `version` is for `replace`. @throws ProblemError `template-not-found` */
  async show(tenantId: string, id: string): Promise<ShownTemplate> {
    const row = await this.#row(tenantId, id);
    const draft = await draftOf(this.#pool, id);
    const shown = draft && { template: draft.body, who: draft.who, at: draft.at.toISOString() };
    return {
      ...view(row),
      version: versionOf(row.stamp, draft),
      template: row.body,
      ...(shown && { draft: shown }),
    };
  }

  /**
   * Replaces the version that the caller has looked at; if somebody has saved a newer one since, it is
   * refused.
   * @throws ProblemError `payload-invalid`, `template-not-found`, `template-changed`, `template-exists`,
   *   `templates-limit`, `not-ready`
   */
  async replace(
    tenantId: string,
    id: string,
    { version, template: body, endsDraft }: { version: string; template?: unknown; endsDraft: boolean },
    who: string,
    also?: Also,
  ): Promise<TemplateView & { version: string }> {
    const checked = await this.#parsed(tenantId, body);
    const warnings = await this.#warnings(tenantId, checked);
    const saved = await this.#renaming(tenantId, checked.name, async (client) => {
      let draft = await this.#locked(client, { tenantId, id, version });
      if (endsDraft) {
        await dropDraft(client, id);
        draft = undefined;
      }
      await client.query(
        `UPDATE platen.templates SET name = $3, body = $4, updated_at = now()
         WHERE tenant_id = $1 AND id = $2`,
        [tenantId, id, checked.name, sentText(body, checked.name)],
      );
      await this.#keep(client, { tenantId, id, created: false }, who);
      await also?.(client);
      const row = await this.#row(tenantId, id, client);
      return { row, version: versionOf(row.stamp, draft) };
    });
    return { ...view(saved.row), version: saved.version, warnings: [...warnings] };
  }

  /**
   * Keeps what would not print as the template's draft; its check is the schema alone.
   * @throws ProblemError as `replace`, but `template-exists`
   */
  async saveDraft(
    tenantId: string,
    id: string,
    { version, template: body }: { version: string; template?: unknown },
    who: string,
    also?: Also,
  ): Promise<{ version: string }> {
    const { name } = parseBody(designedTemplate, body);
    return await transaction(this.#pool, async (client) => {
      await lockTemplates(client, tenantId);
      await this.#locked(client, { tenantId, id, version });
      await keepDraft(client, id, { body: sentText(body, name), who });
      await requireRoom(client, { tenantId, id, created: false }, this.#limits);
      await also?.(client);
      const { stamp } = await this.#row(tenantId, id, client);
      return { version: versionOf(stamp, await draftOf(client, id)) };
    });
  }

  /** Locks the template, where this is its version. @throws ProblemError `template-not-found`, `template-changed` */
  async #locked(
    client: Queryable,
    { tenantId, id, version }: { tenantId: string; id: string; version: string },
  ): Promise<DraftRow | undefined> {
    const { stamp, updated_at: saved } = await this.#row(tenantId, id, client);
    const draft = await draftOf(client, id);
    if (versionOf(stamp, draft) === version) return draft;
    const at = draft !== undefined && draft.at > saved ? draft.at : saved;
    throw new ProblemError(
      'template-changed',
      `somebody has saved the template since, at ${at.toISOString()}`,
    );
  }

  /** @throws ProblemError `template-not-found` */
  async get(tenantId: string, id: string): Promise<SavedTemplate> {
    const row = await this.#find(tenantId, id);
    if (row === undefined) throw await this.#unknown(tenantId, id);
    const { printer_commands: printerCommands, media_must_fit: mediaMustFit, stamp, size } = row;
    const saved = { id, template: parsed(row), printerCommands, mediaMustFit, stamp };
    this.#kept.set(`${tenantId}/${id}`, saved, { size: Math.max(1, size) });
    return saved;
  }

  /** The template as it was read last, if it is kept. Its stamp tells if it was changed or deleted since. */
  kept(tenantId: string, id: string): SavedTemplate | undefined {
    return this.#kept.get(`${tenantId}/${id}`);
  }

  /**
   * Gives a template another name; its ID stays, and requests with that ID go on working.
   * @throws ProblemError `template-not-found`, `template-exists`, `templates-limit`
   */
  async rename(tenantId: string, id: string, name: string, who: string, also?: Also): Promise<TemplateView> {
    return await this.#renaming(tenantId, name, async (client) => {
      const { body } = await this.#row(tenantId, id, client);
      const renamed = await onlyRow(
        client,
        templateRow,
        `UPDATE platen.templates SET name = $3, body = $4, updated_at = now()
         WHERE tenant_id = $1 AND id = $2 RETURNING *`,
        [tenantId, id, name, sentText(body, name)],
      );
      await this.#keep(client, { tenantId, id, created: false }, who);
      await also?.(client);
      return view(renamed);
    });
  }

  /** @throws ProblemError `templates-limit` */
  async #keep(
    client: Queryable,
    saved: { tenantId: string; id: string; created: boolean },
    who: string,
  ): Promise<void> {
    await keepVersion(client, saved.id, who);
    await requireRoom(client, saved, this.#limits);
  }

  /** @throws ProblemError `tenant-not-found`; `template-exists`: another template has the name */
  async #renaming<T>(tenantId: string, name: string, work: (client: Queryable) => Promise<T>): Promise<T> {
    try {
      return await transaction(this.#pool, async (client) => {
        await lockTemplates(client, tenantId);
        return await work(client);
      });
    } catch (error) {
      if (sqlState(error) !== UNIQUE_VIOLATION) throw error;
      throw new ProblemError('template-exists', `the tenant has another template named ${shorten(name)}`);
    }
  }

  /** Jobs that are queued have their own copy, and print. @throws ProblemError `template-not-found` */
  async delete(tenantId: string, id: string, also?: Also): Promise<TemplateView> {
    return await transaction(this.#pool, async (client) => {
      const row = await this.#row(tenantId, id, client);
      await client.query('DELETE FROM platen.templates WHERE tenant_id = $1 AND id = $2', [tenantId, id]);
      await also?.(client);
      return view(row);
    });
  }

  /**
   * Parses a template. A union of both kinds would say only that neither fits; with the kind known first, a
   * fault points at the very field. What else is wrong, in the parts that the schema can read, is reported
   * along with it.
   * @throws ProblemError `payload-invalid`
   */
  async #parsed(tenantId: string, body: unknown): Promise<Template> {
    const schema = templateSchemaFor(body);
    if (schema !== designedTemplate || body === undefined) return parseBody(schema, body);
    const result = designedTemplate.safeParse(body);
    if (result.success) return result.data;
    const { issues } = result.error;
    const faults = faultsOf(issues, body);
    const remains = templateRemains(body, issues);
    if (remains !== undefined) {
      const problems = await this.#problems(tenantId, remains.template);
      const more = problems.filter(
        ({ severity, pointer }) => severity === 'error' && !remains.isLost(pointer),
      );
      faults.push(...more.map(faultOf));
    }
    throw payloadInvalid(faults);
  }

  /** @throws ProblemError `payload-invalid`: it takes too long; `not-ready` */
  async #problems(tenantId: string, checked: Template): Promise<readonly TemplateProblem[]> {
    try {
      const printerCommands = checked.language === 'zpl' && (await printerCommandsOf(this.#pool, tenantId));
      const check = { kind: 'template' as const, template: checked, printerCommands };
      return await this.#checks.run(tenantId, check, this.#times);
    } catch (error) {
      if (error instanceof CheckStopped) throw stopped(error, this.#times);
      throw error;
    }
  }

  /** @throws ProblemError `payload-invalid` where no record could be printed, or it takes too long; `not-ready` */
  async #warnings(tenantId: string, checked: Template): Promise<readonly TemplateProblem[]> {
    const problems = await this.#problems(tenantId, checked);
    const errors = problems.filter(({ severity }) => severity === 'error');
    const [first] = errors;
    if (first === undefined) return problems;
    const more = errors.length > 1 ? `, and ${errors.length - 1} more` : '';
    throw new ProblemError('payload-invalid', `${first.pointer}: ${first.message}${more}`, {
      errors: errors.map(faultOf),
    });
  }

  /** A request with a template's name where its ID is wanted is told the ID. */
  async #unknown(tenantId: string, asked: string): Promise<ProblemError> {
    // PostgreSQL refuses such texts.
    const isName = asked.isWellFormed() && !asked.includes('\0');
    const sql = 'SELECT id FROM platen.templates WHERE tenant_id = $1 AND name = $2';
    const named = isName
      ? await rowOf(this.#pool, z.object({ id: z.string() }), sql, [tenantId, asked])
      : undefined;
    if (named === undefined) return notFound(asked);
    const name = JSON.stringify(asked);
    return new ProblemError('template-not-found', `expected an ID: the template ${name} has ${named.id}`);
  }

  /** @param locked as `#find`. @throws ProblemError `template-not-found` */
  async #row(tenantId: string, id: string, locked?: Queryable): Promise<z.infer<typeof ofTenant>> {
    const row = await this.#find(tenantId, id, locked);
    if (row === undefined) throw notFound(id);
    return row;
  }

  /** @param locked a transaction, until whose end the row is locked */
  async #find(
    tenantId: string,
    id: string,
    locked?: Queryable,
  ): Promise<z.infer<typeof ofTenant> | undefined> {
    const sql = `SELECT t.*, t.xmin::text AS stamp, length(t.body::text) AS size, n.printer_commands, n.media_must_fit FROM platen.templates t JOIN platen.tenants n ON n.id = t.tenant_id
      WHERE t.tenant_id = $1 AND t.id = $2 ${locked === undefined ? '' : 'FOR UPDATE OF t'}`;
    // IDs are ours, so nothing else is looked up: PostgreSQL refuses a NUL in a text.
    return /^[\w-]+$/.test(id) ? await rowOf(locked ?? this.#pool, ofTenant, sql, [tenantId, id]) : undefined;
  }
}

function notFound(id: string): ProblemError {
  return new ProblemError('template-not-found', `the tenant has no template ${JSON.stringify(id)}`);
}

function faultOf({ pointer, message, reason }: TemplateProblem): Fault {
  return { pointer, detail: message, reason: reason ?? because('other', { said: message.slice(0, 1_000) }) };
}

function stopped(error: CheckStopped, times: CheckTimes): ProblemError {
  const { reason, at } = error;
  if (reason === 'deadline' || reason === 'memory') {
    const seconds = times.run / 1000;
    const limit = reason === 'deadline' ? because('checks-long', { seconds }) : because('checks-much', {});
    return payloadInvalid([faultAt(at, limit)]);
  }
  if (reason === 'busy') {
    return new ProblemError('not-ready', 'other templates are being checked: send it again');
  }
  return new ProblemError('internal', 'the template could not be checked', { cause: error });
}

/** The text of a checked template: as it was sent, but under the given name. */
function sentText(body: unknown, name: string): string {
  return JSON.stringify(Object.assign({}, body, { name }));
}

function parsed(row: Row): Template {
  return template.parse(row.body);
}

function view(row: Row): TemplateView {
  const body = parsed(row);
  return {
    id: row.id,
    name: row.name,
    language: body.language,
    fields: [...fieldsOf(body)],
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
