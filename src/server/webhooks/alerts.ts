/** Receivers of alerts, and the watch over what they are told of. */
import { v7 as uuid } from 'uuid';
import { z } from 'zod';
import {
  ALERT_FORMS,
  type AlertCreate,
  type AlertItem,
  type AlertSaid,
  type AlertView,
  alertItem,
  quietHours,
} from '../../contract/alert.ts';
import { HEARTBEAT_LOST, REPORTED } from '../printers/printers.ts';
import { ProblemError } from '../problems.ts';
import type { SecretKey } from '../secret-key.ts';
import { type Also, onlyRow, type Pool, type Queryable, rowsOf, transaction } from '../store/pool.ts';
import { decide, type Receiver } from './alert-decision.ts';
import { nameOf } from './outgoing.ts';
import { ENDS_SOON as CERTIFICATE_ENDS_SOON } from './own-certificate.ts';
import { addWebhook, failureOf, failureRow } from './webhooks.ts';

/** Items that a message names; of the rest it says how many. */
const NAMED = 50;
/** Days before its end that the end of an old secret is told. */
const ENDS_SOON = 2;
/** h before its end that the end of a webhook's old secret is told: it signs for a day. */
const OLD_SIGNS_HOURS = 12;

/** What may need somebody, of all tenants that have a receiver. A tenant's printer comes before a shared one of its ID. */
const CONDITIONS = `WITH tenants AS (
    SELECT DISTINCT tenant_id AS tenant FROM platen.webhooks WHERE form <> 'signed' AND disabled_at IS NULL),
  seen AS (
    SELECT DISTINCT ON (t.tenant, p.printer_id) t.tenant, lane.id AS lane, coalesce(s.display_name, p.name) AS name,
      p.reasons, s.held_at IS NOT NULL AS held, coalesce(s.hidden, false) AS hidden,
      a.online AND a.seen_at > now() - make_interval(secs => ${HEARTBEAT_LOST}) AS heard
    FROM ${REPORTED} JOIN tenants t ON p.gone_at IS NULL AND platen.may_use(t.tenant, a.tenant_id, s.granted_to)
    CROSS JOIN LATERAL (SELECT coalesce(a.tenant_id || '/', '') || p.printer_id AS id) AS lane
    ORDER BY t.tenant, p.printer_id, a.tenant_id IS NULL, heard DESC,
      (p.state = 'unknown')::int + ('offline' = any(p.reasons))::int, p.since DESC),
  found AS (
    SELECT s.tenant, 'alert.printer' AS kind, s.lane AS subject, s.name, n.since, s.reasons, 0 AS count,
        NULL::timestamptz AS ends_at
      FROM seen s JOIN platen.printer_attention n USING (lane) WHERE NOT s.hidden
    UNION ALL
    -- Jobs wait though their printer is well. Of a shared lane only the first are looked at.
    SELECT s.tenant, 'alert.lane', s.lane, s.name, w.created_at, '{}', 0, NULL
      FROM seen s CROSS JOIN LATERAL (
        SELECT f.created_at FROM (SELECT j.created_at, j.tenant_id FROM platen.jobs j
          WHERE j.lane = s.lane AND j.status = 'queued' AND NOT j.test ORDER BY j.seq LIMIT 1000) AS f
        WHERE f.tenant_id = s.tenant LIMIT 1) AS w
      WHERE s.heard AND NOT s.held AND NOT EXISTS (SELECT FROM platen.printer_attention n WHERE n.lane = s.lane)
    UNION ALL
    SELECT t.tenant, 'alert.held', j.lane, max(j.printer_name), min(j.updated_at), '{}', count(*)::int, NULL
      FROM tenants t JOIN platen.jobs j ON j.tenant_id = t.tenant AND j.status = 'held' AND NOT j.test GROUP BY t.tenant, j.lane
    UNION ALL
    SELECT t.tenant, 'alert.agent', a.id, a.name, a.seen_at, '{}', 0, NULL
      FROM tenants t JOIN platen.agents a ON platen.may_see_agent(t.tenant, a.id, a.tenant_id)
      WHERE NOT (a.online AND a.seen_at > now() - make_interval(secs => ${HEARTBEAT_LOST}))
        AND EXISTS (SELECT FROM platen.agent_printers p WHERE p.agent_id = a.id AND p.gone_at IS NULL)
        AND NOT EXISTS (SELECT FROM platen.enrolled_agents e WHERE e.id = a.id AND e.revoked_at IS NOT NULL)
    UNION ALL
    SELECT t.tenant, 'alert.update', a.id, a.name, least((a.went_back->>'at')::timestamptz, now()),
        ARRAY[a.went_back->>'version'], 0, NULL
      FROM tenants t JOIN platen.agents a ON platen.may_see_agent(t.tenant, a.id, a.tenant_id)
      WHERE a.went_back IS NOT NULL
    UNION ALL
    SELECT t.tenant, 'alert.secret', i.api_key, i.name,
        greatest(i.secret_created_at, i.old_secret_ends_at - interval '${ENDS_SOON} days'), '{}', 0,
        i.old_secret_ends_at
      FROM tenants t JOIN platen.integrations i ON i.tenant_id = t.tenant AND i.revoked_at IS NULL
      WHERE i.old_secret_hash IS NOT NULL AND i.old_secret_ends_at > now()
    UNION ALL
    SELECT t.tenant, 'alert.secret', w.id::text, substring(w.url FROM '^https://[^/?#]+'),
        w.old_ends_at - interval '${OLD_SIGNS_HOURS} hours', '{}', 0, w.old_ends_at
      FROM tenants t JOIN platen.webhooks w ON w.tenant_id = t.tenant AND w.form = 'signed' AND w.disabled_at IS NULL
      WHERE w.old_ends_at > now()
    UNION ALL
    SELECT t.tenant, 'alert.certificate', host, host, ${CERTIFICATE_ENDS_SOON}, '{}', 0, ends_at
      FROM tenants t CROSS JOIN platen.certificates)
  SELECT tenant, json_build_object('kind', kind, 'subject', subject, 'name', name, 'since', since, 'reasons', reasons,
    'count', count, 'endsAt', ends_at) AS item
  FROM found`;

/** PostgreSQL's JSON has times with their offset. */
const storedTime = z.coerce.date().transform((at) => at.toISOString());
const storedItem = alertItem.extend({ since: storedTime, endsAt: storedTime.nullable() });
const conditionRow = z.object({ tenant: z.string(), item: storedItem });
const toldRow = z.object({ receiver: z.string(), item: alertItem, message: z.string(), over: z.boolean() });
const receiverRow = z
  .object({
    id: z.string(),
    tenant: z.string(),
    alerts: z.array(z.string()),
    minutes: z.int(),
    quiet: quietHours.nullable(),
    created_at: z.date(),
  })
  .transform(({ created_at, ...rest }): Receiver => ({ ...rest, createdAt: created_at }));
const viewRow = failureRow.extend({
  url: z.string(),
  events: z.array(z.string()),
  form: z.enum(ALERT_FORMS),
  minutes: z.int(),
  quiet: quietHours.nullable(),
});

export class Alerts {
  readonly #pool: Pool;
  readonly #key: SecretKey;
  readonly #hasMail: boolean;

  constructor(pool: Pool, key: SecretKey, hasMail: boolean) {
    this.#pool = pool;
    this.#key = key;
    this.#hasMail = hasMail;
  }

  /** @returns its ID. @throws ProblemError `mail-unavailable`, `tenant-not-found`, `webhooks-limit` */
  async create(tenant: string, asked: AlertCreate, also?: Also<string>): Promise<string> {
    const { form, to, alerts, minutes, quiet } = asked;
    if (form === 'mail' && !this.#hasMail)
      throw new ProblemError('mail-unavailable', 'this service sends no mail: PLATEN_SMTP_URL is not set');
    const id = uuid();
    const address = form === 'mail' ? to : new URL(to).href;
    const shown = form === 'mail' ? to : new URL(to).host;
    await addWebhook(
      this.#pool,
      tenant,
      (client) =>
        client.query(
          `INSERT INTO platen.webhooks (id, tenant_id, url, events, sealed, form, minutes, quiet)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
          [
            ...[id, tenant, shown, [...new Set(alerts)], this.#key.seal(address, nameOf(id)), form, minutes],
            quiet === null ? null : JSON.stringify(quiet),
          ],
        ),
      (client) => also?.(client, id),
    );
    return id;
  }

  async list(tenant: string): Promise<AlertView[]> {
    const sql = `SELECT * FROM platen.webhooks WHERE tenant_id = $1 AND form <> 'signed' ORDER BY created_at, id`;
    return (await rowsOf(this.#pool, viewRow, sql, [tenant])).map((row) => ({
      ...failureOf(row),
      ...{ form: row.form, to: row.url, alerts: row.events, minutes: row.minutes, quiet: row.quiet },
    }));
  }

  /**
   * Looks at what needs somebody, and writes what people are told of it with the decision, in one transaction: whatever
   * is killed, each message is there once, or not yet. One instance looks at a time.
   */
  async watch(): Promise<void> {
    const receivers = `SELECT id, tenant_id AS tenant, events AS alerts, minutes, quiet, created_at FROM platen.webhooks
      WHERE form <> 'signed' AND disabled_at IS NULL`;
    if ((await rowsOf(this.#pool, receiverRow, receivers)).length === 0) return;
    await transaction(this.#pool, async (client) => {
      const { mine, now } = await onlyRow(
        client,
        z.object({ mine: z.boolean(), now: z.date() }),
        "SELECT pg_try_advisory_xact_lock(hashtextextended('platen.alerts', 0)) AS mine, now() AS now",
      );
      if (!mine) return;
      const told = await rowsOf(
        client,
        toldRow,
        'SELECT webhook_id AS receiver, item, message, over FROM platen.alerts',
      );
      const conditions = await rowsOf(client, conditionRow, CONDITIONS);
      // One that a delivery or a deletion has locked is left for the next look: no two wait for each other.
      const all = await rowsOf(client, receiverRow, `${receivers} FOR NO KEY UPDATE SKIP LOCKED`);
      const { begun, ended, over } = decide(all, conditions, told, now);
      for (const { receiver, kind, subject } of over) {
        await client.query(
          'UPDATE platen.alerts SET over = true WHERE webhook_id = $1 AND kind = $2 AND subject = $3',
          [receiver, kind, subject],
        );
      }
      for (const { receiver, items } of begun) {
        const message = await say(client, receiver, { isOver: false, after: null }, items);
        await client.query(
          `INSERT INTO platen.alerts (webhook_id, kind, subject, item, message)
           SELECT $1, item->>'kind', item->>'subject', item, $2 FROM json_array_elements($3::json) AS item
           ON CONFLICT (webhook_id, kind, subject)
           DO UPDATE SET item = excluded.item, message = excluded.message, over = false`,
          [receiver, message, JSON.stringify(items)],
        );
      }
      for (const { receiver, message, items } of ended) {
        await say(client, receiver, { isOver: true, after: message }, items);
        await client.query('DELETE FROM platen.alerts WHERE webhook_id = $1 AND message = $2', [
          receiver,
          message,
        ]);
      }
    });
  }
}

/** @returns the message's ID */
async function say(
  client: Queryable,
  receiver: string,
  what: Pick<AlertSaid, 'isOver' | 'after'>,
  items: readonly AlertItem[],
): Promise<string> {
  const said: AlertSaid = { ...what, count: items.length, items: items.slice(0, NAMED) };
  const { id } = await onlyRow(
    client,
    z.object({ id: z.string() }),
    'INSERT INTO platen.webhook_messages (webhook_id, event, alert) VALUES ($1, $2, $3) RETURNING id',
    [receiver, what.isOver ? 'alert.over' : 'alert.begun', JSON.stringify(said)],
  );
  return id;
}
