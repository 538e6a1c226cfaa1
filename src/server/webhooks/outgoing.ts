/** What goes out for a message, in the form of its webhook. */
import { z } from 'zod';
import { ALERT_FORMS, alertSaid } from '../../contract/alert.ts';
import { tolerantReasons } from '../../contract/read-report.ts';
import { webhookPrinter } from '../../contract/webhook.ts';
import { jobRow, jobViewOf } from '../jobs/shown/job-row.ts';
import type { SecretKey } from '../secret-key.ts';
import { alertText, chatBody } from './alert-words.ts';
import type { Mail } from './mail.ts';
import type { Message } from './send.ts';

/** The job's row as the trigger wrote it: what its event does not change is left out. */
const jobThen = jobRow.extend({
  created_at: z.coerce.date(),
  updated_at: z.coerce.date(),
  cancel_requested: z.boolean().default(false),
  lane_held: z.boolean().default(false),
  test: jobRow.shape.test.default(false),
  nobody: jobRow.shape.nobody.default(null),
});

/** Another version may have stored words that this one does not know. */
const printerThen = webhookPrinter.extend({ reasons: tolerantReasons });

export const dueRow = z.object({
  id: z.string(),
  webhook_id: z.string(),
  event: z.string(),
  job: jobThen.nullable(),
  printer: printerThen.nullable(),
  alert: alertSaid.nullable(),
  at: z.date(),
  attempts: z.int(),
  url: z.string(),
  sealed: z.string(),
  form: z.enum(['signed', ...ALERT_FORMS]),
  old_sealed: z.string().nullable(),
});
export type Outgoing = { post: Message } | { mail: Mail };

/** The name under which what is sealed of a webhook opens. */
export function nameOf(id: string): string {
  return `webhook ${id}`;
}

/** @returns null: it was sealed with another key */
export function outgoingOf(row: z.infer<typeof dueRow>, key: SecretKey): Outgoing | null {
  const { id, form, alert } = row;
  const sealed = [row.sealed, ...(row.old_sealed === null ? [] : [row.old_sealed])];
  let opened: string[];
  try {
    opened = sealed.map((one) => key.open(one, nameOf(row.webhook_id)));
  } catch {
    return null;
  }
  if (form === 'signed') {
    const data = row.job === null ? (row.printer ?? {}) : jobViewOf(row.job);
    const body = JSON.stringify({ type: row.event, timestamp: row.at.toISOString(), data });
    return { post: { id, url: row.url, body, secrets: opened } };
  }
  const [to = ''] = opened;
  if (form !== 'mail') return { post: { id, url: to, body: chatBody(form, alert), secrets: [] } };
  const { title, lines } = alertText(alert);
  return { mail: { id, to, title, text: `${lines.join('\n')}\n`, after: alert?.after ?? null } };
}
