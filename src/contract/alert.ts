/**
 * Alerts for people, by mail or as a chat message: GET|POST /app/tenants/{id}/alerts. A receiver of alerts is a webhook in
 * another form: what is asked of one webhook (…/webhooks/{id}/test, /messages, /replay, DELETE) is asked of it there too.
 */
import { z } from 'zod';
import { saying } from './reason.ts';
import { httpsAddress, webhookView } from './webhook.ts';

export const ALERTS = [
  'alert.printer',
  'alert.held',
  'alert.lane',
  'alert.agent',
  'alert.update',
  'alert.certificate',
  'alert.secret',
] as const;
export type Alert = (typeof ALERTS)[number];

/** `chat`: JSON with `text`, as Slack and Mattermost take it; `teams`: an adaptive card. */
export const ALERT_FORMS = ['mail', 'chat', 'teams'] as const;
export type AlertForm = (typeof ALERT_FORMS)[number];

const timeOfDay = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, { error: saying('time-of-day', {}) });

function isZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }) !== undefined;
  } catch {
    return false;
  }
}

/** Hours of each day in which nothing is told; what still lasts then is told at their end. */
export const quietHours = z.strictObject({
  from: timeOfDay,
  until: timeOfDay,
  zone: z
    .string()
    .max(60)
    .refine(isZone, { error: saying('time-zone', {}) }),
});
export type QuietHours = z.infer<typeof quietHours>;

const told = {
  alerts: z
    .array(z.enum(ALERTS))
    .min(1)
    .max(ALERTS.length)
    .default([...ALERTS]),
  /** What has lasted so long is told. */
  minutes: z.int().min(1).max(1_440).default(5),
  quiet: quietHours.nullable().default(null),
};
export const alertCreate = z.discriminatedUnion('form', [
  z.strictObject({
    form: z.literal('mail'),
    to: z.email({ error: saying('mail-address', {}) }).max(254),
    ...told,
  }),
  /** The https address that the chat gave out. */
  z.strictObject({ form: z.enum(['chat', 'teams']), to: httpsAddress, ...told }),
]);
export type AlertCreate = z.output<typeof alertCreate>;

export const alertView = webhookView.omit({ url: true, events: true }).extend({
  form: z.enum(ALERT_FORMS),
  /** The mail address, or the chat's host: the rest of its address is a secret. */
  to: z.string(),
  alerts: z.array(z.string()),
  minutes: z.int(),
  quiet: quietHours.nullable(),
});
export type AlertView = z.infer<typeof alertView>;
export const alertMade = z.object({ id: z.string() });

/** Something that needs a person. */
export const alertItem = z.object({
  kind: z.enum(ALERTS),
  /** Of what: a lane, an agent's ID, an API key, a webhook's ID, a host. */
  subject: z.string(),
  name: z.string(),
  since: z.iso.datetime(),
  /** Of a printer; of an update: the version that did not come up. */
  reasons: z.array(z.string()),
  /** Of held jobs: how many. */
  count: z.int(),
  /** Of a secret, or a certificate. */
  endsAt: z.iso.datetime().nullable().default(null),
});
export type AlertItem = z.infer<typeof alertItem>;

/** What one message says. `items`: the first of `count`. `after`: the message that told of the beginning. */
export const alertSaid = z.object({
  isOver: z.boolean(),
  count: z.int(),
  items: z.array(alertItem),
  after: z.uuid().nullable(),
});
export type AlertSaid = z.infer<typeof alertSaid>;
