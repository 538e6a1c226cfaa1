/**
 * Webhooks by Standard Webhooks: GET|POST /app/tenants/{id}/webhooks, DELETE …/{webhookId}, POST …/{webhookId}/test,
 * …/secret, …/replay, GET …/{webhookId}/messages.
 */
import { z } from 'zod';
import { givenText } from './given-text.ts';
import { integratorPrinter } from './integrator-view.ts';
import { time } from './job-search.ts';
import { saying } from './reason.ts';

export const WEBHOOK_EVENTS = [
  'job.printed',
  'job.failed',
  'job.held',
  'job.canceled',
  'printer.attention',
  'printer.ready',
] as const;

/** The URL parser has made one form of each address by then: `0177.1` is `127.0.0.1`, and a zone is no URL at all. */
function isEndpoint(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return protocol === 'https:' && username === '' && password === '';
}

export const httpsAddress = givenText.max(2_000).refine(isEndpoint, { error: saying('webhook-url', {}) });

export const webhookCreate = z.strictObject({
  url: httpsAddress,
  events: z
    .array(z.enum(WEBHOOK_EVENTS))
    .min(1)
    .max(WEBHOOK_EVENTS.length)
    .default([...WEBHOOK_EVENTS]),
});
export type WebhookCreate = z.output<typeof webhookCreate>;

export const webhookView = z.object({
  id: z.string(),
  url: z.string(),
  events: z.array(z.string()),
  createdAt: z.iso.datetime(),
  /** Since when no event has arrived; null: the last one has. */
  failingSince: z.iso.datetime().nullable(),
  /** Nothing is sent any more until somebody replays; and why. */
  disabled: z.object({ at: z.iso.datetime(), why: z.string() }).nullable(),
});
export type WebhookView = z.infer<typeof webhookView>;
/** The secret is shown this one time. */
export const webhookSecret = z.object({ id: z.string(), secret: z.string() });
export type WebhookSecret = z.infer<typeof webhookSecret>;

/** One message, or all that have not arrived, of those since a time. With the same IDs; a disabled webhook is enabled. */
export const webhookReplay = z.strictObject({ message: z.uuid().optional(), since: time.optional() });
export const webhookReplayed = z.object({ messages: z.int() });
export const webhookTested = z.object({ message: z.string() });

export const webhookMessage = z.object({
  /** The message's `webhook-id`. */
  id: z.string(),
  event: z.string(),
  /** Which one it is about; both null: a test. */
  job: z.string().nullable(),
  printer: z.string().nullable(),
  at: z.iso.datetime(),
  arrivedAt: z.iso.datetime().nullable(),
  /** When it is tried again; null: it has arrived, or was given up. */
  dueAt: z.iso.datetime().nullable(),
  /** The newest first, at most 20; `status` null: there was no answer, and `answer` says why. */
  attempts: z.array(
    z.object({ at: z.iso.datetime(), ms: z.int(), status: z.int().nullable(), answer: z.string() }),
  ),
});
export type WebhookMessage = z.infer<typeof webhookMessage>;

/** What the event of a printer says. */
export const webhookPrinter = integratorPrinter.omit({ formats: true });
