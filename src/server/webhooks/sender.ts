/**
 * Sends what is due, in every instance: each message is in one instance's hand at a time. An endpoint that hangs holds up
 * its own messages only.
 */
import type { ServiceHealth } from '../../contract/readiness.ts';
import type { Logger } from '../../log.ts';
import type { ServerConfig } from '../config.ts';
import type { SecretKey } from '../secret-key.ts';
import type { ServiceMetrics } from '../service-metrics.ts';
import type { Pool } from '../store/pool.ts';
import { Alerts } from './alerts.ts';
import { mailFails, sendMail } from './mail.ts';
import type { Outgoing } from './outgoing.ts';
import { OwnCertificate } from './own-certificate.ts';
import { type Sent, send } from './send.ts';
import { type Due, Webhooks } from './webhooks.ts';
import { whereAllowed } from './where-allowed.ts';

/** ms between two looks at what is due. */
const INTERVAL = 1_000;
/** Webhooks that are being served when no more are taken. */
const MOST_BUSY = 64;
/** Looks between two deletions of what is no longer kept. */
const FORGETS_EVERY = 600;
/** Looks between two at what needs somebody. */
const WATCHES_EVERY = 5;

/** ms in which the mail server is asked once whether it takes mail. */
const MAIL_ASKED = 5 * 60_000;

type Parts = {
  webhooks: Webhooks;
  alerts: Alerts;
  certificate: OwnCertificate;
  config: ServerConfig;
  metrics: ServiceMetrics | undefined;
  logger: Logger;
};

/** What is to be told is sent from now on, until the sender is stopped. */
export function startWebhooks({
  pool,
  key,
  config,
  metrics,
  logger,
}: {
  pool: Pool;
  key: SecretKey;
  config: ServerConfig;
  metrics: ServiceMetrics | undefined;
  logger: Logger;
}): { webhooks: Webhooks; alerts: Alerts; sender: WebhookSender } {
  const webhooks = new Webhooks(pool, key);
  const alerts = new Alerts(pool, key, config.mail !== undefined);
  const certificate = new OwnCertificate(pool, config.publicUrl);
  const sender = new WebhookSender({ webhooks, alerts, certificate, config, metrics, logger });
  sender.start();
  return { webhooks, alerts, sender };
}

class WebhookSender {
  readonly #webhooks: Webhooks;
  readonly #alerts: Alerts;
  readonly #certificate: OwnCertificate;
  readonly #mail: ServerConfig['mail'];
  readonly #isAllowed: (address: string) => boolean;
  readonly #metrics: ServiceMetrics | undefined;
  readonly #logger: Logger;
  readonly #busy = new Map<string, Promise<void>>();
  readonly #ends = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  #seeing: Promise<void> = Promise.resolve();
  #looks = 0;
  #mailAskedAt = Number.NEGATIVE_INFINITY;
  #mailFails: Promise<string | null> = Promise.resolve(null);

  constructor(parts: Parts) {
    this.#webhooks = parts.webhooks;
    this.#alerts = parts.alerts;
    this.#certificate = parts.certificate;
    this.#mail = parts.config.mail;
    this.#isAllowed = whereAllowed(parts.config.webhookAllow);
    this.#metrics = parts.metrics;
    this.#logger = parts.logger;
  }

  start(): void {
    this.#looking = this.#look();
  }

  /** What is under way is broken off: it is sent again, under its ID. */
  async stop(): Promise<void> {
    this.#ends.abort();
    clearTimeout(this.#timer);
    await this.#looking;
    await this.#seeing;
    await Promise.all(this.#busy.values());
  }

  /** The health of what is set up: as all instances know it, but for the mail server, which this one asks. */
  async health(): Promise<ServiceHealth> {
    const mail = this.#mail;
    if (mail !== undefined && performance.now() - this.#mailAskedAt > MAIL_ASKED) {
      this.#mailAskedAt = performance.now();
      this.#mailFails = mailFails(mail.smtpUrl, this.#ends.signal);
    }
    const known = await Promise.all([this.#webhooks.health(), this.#certificate.health()]);
    return Object.assign({}, ...known, mail !== undefined && { mail: { failed: await this.#mailFails } });
  }

  async #look(): Promise<void> {
    try {
      if (this.#looks % FORGETS_EVERY === 0) {
        this.#seeing = this.#see();
        await this.#webhooks.forget();
      }
      if (this.#looks++ % WATCHES_EVERY === 0) await this.#watch();
      const { size } = this.#busy;
      const due = size < MOST_BUSY ? await this.#webhooks.take([...this.#busy.keys()]) : [];
      for (const [webhook, messages] of Map.groupBy(due, (one) => one.webhook)) {
        const served = Promise.all(messages.map((one) => this.#send(one))).then(() => {
          this.#busy.delete(webhook);
        });
        this.#busy.set(webhook, served);
      }
    } catch (error) {
      this.#logger.warn({ err: error }, 'webhooks wait: what is due cannot be read');
    }
    if (this.#ends.signal.aborted) return;
    this.#timer = setTimeout(() => {
      this.#looking = this.#look();
    }, INTERVAL);
  }

  /** Beside the messages: an address that does not answer holds none up. */
  async #see(): Promise<void> {
    try {
      await this.#certificate.look(this.#ends.signal);
    } catch (error) {
      this.#logger.warn({ err: error }, 'until when the certificate is good cannot be written down');
    }
  }

  /** What cannot be looked at holds up no message. */
  async #watch(): Promise<void> {
    try {
      await this.#alerts.watch();
    } catch (error) {
      this.#logger.warn({ err: error }, 'alerts wait: what needs somebody cannot be read');
    }
  }

  async #out(message: Outgoing): Promise<Sent> {
    const { signal } = this.#ends;
    if ('post' in message) return await send(message.post, { isAllowed: this.#isAllowed, signal });
    if (this.#mail === undefined) return notSent('no PLATEN_SMTP_URL is set');
    return await sendMail(message.mail, this.#mail, signal);
  }

  async #send(due: Due): Promise<void> {
    try {
      const message = due.read();
      const sent =
        message === null
          ? notSent('the secret cannot be read: PLATEN_KEY has changed')
          : await this.#out(message);
      if (sent.status === null && this.#ends.signal.aborted) return;
      this.#metrics?.told(sent.status);
      await this.#webhooks.sent(due, sent);
    } catch (error) {
      const { webhook, message } = due;
      this.#logger.warn({ err: error, webhook, message }, 'a webhook message is sent later');
    }
  }
}

function notSent(answer: string): Sent {
  return { status: null, answer, ms: 0, retryAfter: null };
}
