/** A tenant's webhooks: where its events go, what is still to be sent, and what became of the rest. */
import { randomBytes } from 'node:crypto';
import { v7 as uuid } from 'uuid';
import { z } from 'zod';
import type { ServiceHealth } from '../../contract/readiness.ts';
import type { WebhookCreate, WebhookMessage, WebhookSecret, WebhookView } from '../../contract/webhook.ts';
import { ProblemError } from '../problems.ts';
import type { SecretKey } from '../secret-key.ts';
import { type Also, onlyRow, type Pool, type Queryable, rowOf, rowsOf, transaction } from '../store/pool.ts';
import { orTenantNotFound } from '../tenant-not-found.ts';
import { dueRow, nameOf, type Outgoing, outgoingOf } from './outgoing.ts';
import type { Sent } from './send.ts';

/** Webhooks of a tenant. */
const MOST = 20;
/** h for which the old secret signs too. */
const OLD_SIGNS = 24;
/** Days that messages and what was answered are kept. */
const KEPT_DAYS = 30;
/** Days without an arrival after which a webhook is disabled. */
const FAILING_DAYS = 5;
/** s after which whoever has a message in hand counts as gone: longer than any request. */
const IN_HAND = 60;
/** Messages of one webhook, and webhooks, that are taken at once. */
const AT_ONCE = { messages: 4, webhooks: 16 };
/** s between the attempts (Standard Webhooks): after the last one the message is given up. */
const SCHEDULE = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
const LONGEST_WAIT = 86_400;

/** Since when deliveries to one fail, whatever its form. */
export const failureRow = z.object({
  id: z.string(),
  created_at: z.date(),
  failing_since: z.date().nullable(),
  disabled_at: z.date().nullable(),
  disabled_why: z.string().nullable(),
});
const webhookRow = failureRow.extend({ url: z.string(), events: z.array(z.string()) });

export type Due = { webhook: string; attempts: number; message: string; read: () => Outgoing | null };

const messageRow = z.object({
  id: z.string(),
  event: z.string(),
  job: z.string().nullable(),
  printer: z.string().nullable(),
  at: z.date(),
  arrived_at: z.date().nullable(),
  due_at: z.date().nullable(),
  attempts: z.array(
    z.object({ at: z.coerce.date(), ms: z.int(), status: z.int().nullable(), answer: z.string() }),
  ),
});

const healthRow = z.object({
  of: z.enum(['webhooks', 'alerts']),
  disabled: z.int(),
  oldest: z.date().nullable(),
});

export class Webhooks {
  readonly #pool: Pool;
  readonly #key: SecretKey;

  constructor(pool: Pool, key: SecretKey) {
    this.#pool = pool;
    this.#key = key;
  }

  /** The secret is returned here and never again. @throws ProblemError `tenant-not-found`, `webhooks-limit` */
  async create(tenant: string, { url, events }: WebhookCreate, also?: Also<string>): Promise<WebhookSecret> {
    const [id, secret] = [uuid(), newSecret()];
    await addWebhook(
      this.#pool,
      tenant,
      (client) =>
        client.query(
          'INSERT INTO platen.webhooks (id, tenant_id, url, events, sealed) VALUES ($1, $2, $3, $4, $5)',
          [id, tenant, new URL(url).href, [...new Set(events)], this.#key.seal(secret, nameOf(id))],
        ),
      (client) => also?.(client, id),
    );
    return { id, secret };
  }

  async list(tenant: string): Promise<WebhookView[]> {
    const sql = `SELECT * FROM platen.webhooks WHERE tenant_id = $1 AND form = 'signed' ORDER BY created_at, id`;
    return (await rowsOf(this.#pool, webhookRow, sql, [tenant])).map(view);
  }

  /** The old secret signs too for a day. @throws ProblemError `webhook-not-found` */
  async rotate(tenant: string, id: string, also?: Also): Promise<WebhookSecret> {
    const secret = newSecret();
    await this.#change(
      `UPDATE platen.webhooks SET old_sealed = sealed, sealed = $3,
         old_ends_at = now() + make_interval(hours => ${OLD_SIGNS})
       WHERE tenant_id = $1 AND id = $2 AND form = 'signed'`,
      [tenant, id, this.#key.seal(secret, nameOf(id))],
      also,
    );
    return { id, secret };
  }

  /** @throws ProblemError `webhook-not-found` */
  async delete(tenant: string, id: string, also?: Also): Promise<void> {
    await this.#change('DELETE FROM platen.webhooks WHERE tenant_id = $1 AND id = $2', [tenant, id], also);
  }

  /** Has a `webhook.test` sent. @returns the message's ID. @throws ProblemError `webhook-not-found` */
  async test(tenant: string, id: string, also?: Also): Promise<string> {
    await this.#demand(tenant, id);
    return await transaction(this.#pool, async (client) => {
      const made = await onlyRow(
        client,
        z.object({ id: z.string() }),
        `INSERT INTO platen.webhook_messages (webhook_id, event) VALUES ($1, 'webhook.test') RETURNING id`,
        [id],
      );
      await also?.(client);
      return made.id;
    });
  }

  /**
   * Sends messages again, under their IDs: this one, or all that have not arrived. A disabled webhook is enabled.
   * @returns how many. @throws ProblemError `webhook-not-found`
   */
  async replay(
    tenant: string,
    id: string,
    { message, since }: { message?: string | undefined; since?: string | undefined },
    also?: Also<number>,
  ): Promise<number> {
    await this.#demand(tenant, id);
    return await transaction(this.#pool, async (client) => {
      await client.query(
        'UPDATE platen.webhooks SET disabled_at = NULL, disabled_why = NULL, failing_since = NULL WHERE id = $1',
        [id],
      );
      const { rowCount } = await client.query(
        `UPDATE platen.webhook_messages SET due_at = now(), attempts = 0, arrived_at = NULL
         WHERE webhook_id = $1 AND ($2::uuid IS NULL OR id = $2) AND ($2::uuid IS NOT NULL OR arrived_at IS NULL)
           AND ($3::timestamptz IS NULL OR at >= $3)`,
        [id, message ?? null, since ?? null],
      );
      const count = rowCount ?? 0;
      await also?.(client, count);
      return count;
    });
  }

  /** The newest messages. @throws ProblemError `webhook-not-found` */
  async messages(tenant: string, id: string): Promise<WebhookMessage[]> {
    await this.#demand(tenant, id);
    const rows = await rowsOf(
      this.#pool,
      messageRow,
      `SELECT m.id, m.event, m.job->>'id' AS job, m.printer->>'id' AS printer, m.at, m.arrived_at, m.due_at, coalesce((
         SELECT json_agg(a) FROM (SELECT at, ms, status, answer FROM platen.webhook_attempts
           WHERE message_id = m.id ORDER BY at DESC LIMIT 20) AS a), '[]') AS attempts
       FROM platen.webhook_messages m WHERE m.webhook_id = $1 ORDER BY m.at DESC, m.id DESC LIMIT 100`,
      [id],
    );
    return rows.map(({ at, arrived_at, due_at, attempts, ...one }) => ({
      ...one,
      at: at.toISOString(),
      arrivedAt: arrived_at?.toISOString() ?? null,
      dueAt: due_at?.toISOString() ?? null,
      attempts: attempts.map((attempt) => ({ ...attempt, at: attempt.at.toISOString() })),
    }));
  }

  /**
   * Takes messages that are due, of webhooks that are not busy here. No other instance takes them within `IN_HAND`; if this
   * one ends before it has said what became of them, they are due again.
   */
  async take(busy: readonly string[]): Promise<Due[]> {
    const rows = await rowsOf(
      this.#pool,
      dueRow,
      `WITH due AS (
         SELECT m.id FROM platen.webhooks w CROSS JOIN LATERAL (
           SELECT id FROM platen.webhook_messages WHERE webhook_id = w.id AND due_at <= now()
           ORDER BY due_at LIMIT ${AT_ONCE.messages} FOR UPDATE SKIP LOCKED) AS m
         WHERE w.disabled_at IS NULL AND w.id <> ALL($1::uuid[])
         LIMIT ${AT_ONCE.messages * AT_ONCE.webhooks})
       UPDATE platen.webhook_messages m SET due_at = now() + make_interval(secs => ${IN_HAND}), attempts = attempts + 1
       FROM due, platen.webhooks w WHERE m.id = due.id AND w.id = m.webhook_id
       RETURNING m.id, m.webhook_id, m.event, m.job, m.printer, m.alert, m.at, m.attempts, w.url, w.sealed, w.form,
         CASE WHEN w.old_ends_at > now() THEN w.old_sealed END AS old_sealed`,
      [[...busy]],
    );
    return rows.map((row) => ({
      webhook: row.webhook_id,
      attempts: row.attempts,
      message: row.id,
      read: () => outgoingOf(row, this.#key),
    }));
  }

  /** What became of an attempt: it arrived, is tried again, or nothing is sent there any more. */
  async sent({ webhook, message, attempts }: Due, { status, answer, ms, retryAfter }: Sent): Promise<void> {
    const arrived = status !== null && status >= 200 && status < 300;
    const planned = SCHEDULE[attempts - 1];
    // Jitter: what failed together does not come again together.
    const wait =
      planned === undefined
        ? null
        : Math.min(LONGEST_WAIT, Math.max(planned * (0.9 + Math.random() / 5), retryAfter ?? 0));
    await transaction(this.#pool, async (client) => {
      // The webhook before its messages, in the order in which a deletion locks them.
      await client.query('SELECT FROM platen.webhooks WHERE id = $1 FOR NO KEY UPDATE', [webhook]);
      await client.query(
        `UPDATE platen.webhook_messages SET arrived_at = CASE WHEN $2 THEN now() END,
           due_at = CASE WHEN NOT $2 THEN now() + make_interval(secs => $3::float8) END WHERE id = $1`,
        [message, arrived, wait],
      );
      await client.query(
        `INSERT INTO platen.webhook_attempts (message_id, ms, status, answer)
         SELECT id, $2, $3, $4 FROM platen.webhook_messages WHERE id = $1`,
        [message, ms, status, answer],
      );
      await client.query(
        `UPDATE platen.webhooks SET failing_since = CASE WHEN NOT $2 THEN coalesce(failing_since, now()) END,
           disabled_at = CASE WHEN $3 OR (NOT $2 AND failing_since < now() - interval '${FAILING_DAYS} days')
             THEN now() END,
           disabled_why = CASE WHEN $3 THEN 'gone' WHEN NOT $2 AND failing_since < now() - interval '${FAILING_DAYS} days'
             THEN 'failing' END
         WHERE id = $1 AND disabled_at IS NULL AND (NOT $2 OR failing_since IS NOT NULL)`,
        [webhook, arrived, status === 410],
      );
    });
  }

  /** The health of the webhooks of all tenants, and of the receivers of alerts. */
  async health(): Promise<ServiceHealth> {
    const rows = await rowsOf(
      this.#pool,
      healthRow,
      `SELECT CASE form WHEN 'signed' THEN 'webhooks' ELSE 'alerts' END AS of, count(disabled_at)::int AS disabled,
         min(m.at) AS oldest
       FROM platen.webhooks w LEFT JOIN LATERAL (SELECT at FROM platen.webhook_messages
         WHERE webhook_id = w.id AND due_at IS NOT NULL AND w.disabled_at IS NULL ORDER BY at LIMIT 1) AS m ON true
       GROUP BY 1`,
    );
    return Object.fromEntries(
      rows.map(({ of, disabled, oldest }) => [
        of,
        { disabled, oldestUndelivered: oldest?.toISOString() ?? null },
      ]),
    );
  }

  /** Deletes messages, and what was answered, that are no longer kept. */
  async forget(): Promise<void> {
    await this.#pool.query(
      `DELETE FROM platen.webhook_messages WHERE id IN (SELECT id FROM platen.webhook_messages
         WHERE at < now() - interval '${KEPT_DAYS} days' ORDER BY at LIMIT 10000)`,
    );
  }

  async #demand(tenant: string, id: string): Promise<void> {
    const sql = 'SELECT id FROM platen.webhooks WHERE tenant_id = $1 AND id = $2';
    const found =
      z.uuid().safeParse(id).success &&
      (await rowOf(this.#pool, webhookRow.pick({ id: true }), sql, [tenant, id]));
    if (!found) throw notFound(tenant);
  }

  async #change(
    sql: string,
    [tenant, id, ...more]: [string, string, ...string[]],
    also?: Also,
  ): Promise<void> {
    await this.#demand(tenant, id);
    await transaction(this.#pool, async (client) => {
      const { rowCount } = await client.query(sql, [tenant, id, ...more]);
      if (rowCount === 0) throw notFound(tenant);
      await also?.(client);
    });
  }
}

/** @throws ProblemError `tenant-not-found`, `webhooks-limit` */
export async function addWebhook(
  pool: Pool,
  tenant: string,
  insert: (client: Queryable) => Promise<unknown>,
  also: (client: Queryable) => Promise<void> | undefined,
): Promise<void> {
  await transaction(pool, async (client) => {
    const { count } = await onlyRow(
      client,
      z.object({ count: z.int() }),
      'SELECT count(*)::int FROM platen.webhooks WHERE tenant_id = $1',
      [tenant],
    );
    if (count >= MOST) throw new ProblemError('webhooks-limit', `a tenant has at most ${MOST} webhooks`);
    await insert(client);
    await also(client);
  }).catch(orTenantNotFound(tenant));
}

/** 24 bytes, as Standard Webhooks has it. */
function newSecret(): string {
  return `whsec_${randomBytes(24).toString('base64')}`;
}

function notFound(tenant: string): ProblemError {
  return new ProblemError('webhook-not-found', `tenant "${tenant}" has no webhook with this ID`);
}

function view(row: z.infer<typeof webhookRow>): WebhookView {
  return { ...failureOf(row), url: row.url, events: row.events };
}

export function failureOf(row: z.infer<typeof failureRow>): Omit<WebhookView, 'url' | 'events'> {
  return {
    id: row.id,
    createdAt: row.created_at.toISOString(),
    failingSince: row.failing_since?.toISOString() ?? null,
    disabled:
      row.disabled_at === null ? null : { at: row.disabled_at.toISOString(), why: row.disabled_why ?? '' },
  };
}
