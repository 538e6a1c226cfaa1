/**
 * Sends what is due, in every instance: each message is in one instance's hand at a time. An endpoint that hangs holds up
 * its own messages only.
 */
import type { Logger } from '../../log.ts';
import { send } from './send.ts';
import type { Due, Webhooks } from './webhooks.ts';
import { whereAllowed } from './where-allowed.ts';

/** ms between two looks at what is due. */
const INTERVAL = 1_000;
/** Webhooks that are being served when no more are taken. */
const MOST_BUSY = 64;
/** Looks between two deletions of what is no longer kept. */
const FORGETS_EVERY = 600;

export class WebhookSender {
  readonly #webhooks: Webhooks;
  readonly #isAllowed: (address: string) => boolean;
  readonly #logger: Logger;
  readonly #busy = new Map<string, Promise<void>>();
  readonly #ends = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  #looks = 0;

  constructor(parts: { webhooks: Webhooks; allowed: readonly string[]; logger: Logger }) {
    this.#webhooks = parts.webhooks;
    this.#isAllowed = whereAllowed(parts.allowed);
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
    await Promise.all(this.#busy.values());
  }

  async #look(): Promise<void> {
    try {
      if (this.#looks++ % FORGETS_EVERY === 0) await this.#webhooks.forget();
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

  async #send(due: Due): Promise<void> {
    try {
      const message = due.read();
      const sent =
        message === null
          ? {
              status: null,
              answer: 'the secret cannot be read: PLATEN_KEY has changed',
              ms: 0,
              retryAfter: null,
            }
          : await send(message, { isAllowed: this.#isAllowed, signal: this.#ends.signal });
      if (sent.status === null && this.#ends.signal.aborted) return;
      await this.#webhooks.sent(due, sent);
    } catch (error) {
      const { webhook, message } = due;
      this.#logger.warn({ err: error, webhook, message }, 'a webhook message is sent later');
    }
  }
}
