/** What `platen integration create --json` prints. */
export interface Account {
  tokenUrl: string;
  audience: string;
  scope: string;
  tenant: string;
  printEndpoint: string;
  apiKey: string;
  apiSecret: string;
}

export interface PrintRequest {
  /** ID of the saved template. */
  idT: string;
  /** This or `printer`. */
  printerId?: string;
  printer?: string;
  format?: string;
  orientation?: 'portrait' | 'landscape';
  numberCopies?: number;
  data?: Record<string, string | number | boolean | null>[];
}

export interface Validation {
  valid: true;
  labels: number;
  route: { printerId: string; printer: string; agentId: string; format: { id: string; name: string } };
  warnings: { code: string; message: string; record?: number; field?: string }[];
  warningCount: number;
}

export interface Job {
  id: string;
  tenant: string;
  status: 'queued' | 'printing' | 'printed' | 'failed' | 'canceled' | 'held';
  labels: { total: number; sent: number; printed: number };
  reasons: string[];
  error: { code: string; message: string } | null;
  uncertain: { from: number; to: number } | null;
  printer: { id: string; name: string };
  template: { id: string; name: string };
  format: string;
  orientation: 'portrait' | 'landscape';
  copies: number;
  records: number;
  createdAt: string;
  updatedAt: string;
}

export interface Asking {
  /** Ends the request, its retries and its waits. */
  signal?: AbortSignal;
}

/** The service has refused. Without `status` no answer came: a print may or may not have been accepted. */
export class PlatenError extends Error {
  readonly status: number | undefined;
  /** Stable; see docs/http.md. */
  readonly code: string;
  readonly retrySafe: boolean;
  readonly requestId: string | undefined;
  /** Of a print: with this key the same request may be sent again. */
  readonly idempotencyKey: string | undefined;
}

export class Platen {
  /** @param options.retries attempts after the first (default 5); @param options.timeoutMs of one attempt (default 30 s) */
  constructor(account: Account, options?: { retries?: number; timeoutMs?: number });
  /**
   * Resolves with the job's ID once the job is accepted. One key for each business event, the same for its retries;
   * left out, each call is an event of its own, and only its own retries share a key.
   */
  print(request: PrintRequest, options?: Asking & { idempotencyKey?: string }): Promise<string>;
  validate(request: PrintRequest, options?: Asking): Promise<Validation>;
  job(id: string, options?: Asking): Promise<Job>;
  /** Resolves when the job has ended or a person has to look: `printed`, `failed`, `canceled` or `held`. */
  waitFor(id: string, options?: Asking & { everyMs?: number }): Promise<Job>;
}

/** What a webhook sends; see docs/webhooks.md. */
export type WebhookEvent = { timestamp: string } & (
  | { type: 'job.printed' | 'job.failed' | 'job.held' | 'job.canceled'; data: Job }
  | {
      type: 'printer.attention' | 'printer.ready';
      data: { id: string; name: string; status: string; reasons: string[] };
    }
  | { type: 'webhook.test'; data: Record<string, never> }
);

export const webhooks: {
  /**
   * The event, if the message is of the service that has the secret, and of the last minutes. Take a `webhook-id` once: a
   * message may arrive twice.
   * @param secrets what `platen webhook create` printed; several while they are changed
   * @param body as it came, byte for byte
   * @param options.toleranceSeconds how far its time may be from this machine's (default 300)
   * @throws PlatenError `webhook-unverified`
   */
  verify(
    secrets: string | readonly string[],
    body: string | Uint8Array,
    headers: Headers | Readonly<Record<string, string | undefined>>,
    options?: { toleranceSeconds?: number },
  ): WebhookEvent;
};
