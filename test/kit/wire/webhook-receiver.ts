/** A receiver of webhooks that answers as told, and verifies with npm's `standardwebhooks`. */
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { jobView } from '../../../src/contract/job.ts';
import { webhookPrinter } from '../../../src/contract/webhook.ts';
import type { ServiceHarness } from '../service/harness.ts';
import { selfSigned } from './certificate.ts';

/** The body of a webhook's event; `data` of a `webhook.test` is empty. */
const webhookBody = z.object({
  type: z.string(),
  timestamp: z.iso.datetime(),
  data: z.union([jobView, webhookPrinter, z.strictObject({})]),
});

/** `status`: what was answered; null: nothing. */
export type Got = { path: string; headers: IncomingHttpHeaders; body: string; status: number | null };

/** One for the tests of a file, each of which begins without webhooks; this process believes its authority as long. */
export function useWebhookReceiver(service: Pick<ServiceHarness, 'pool'>): WebhookReceiver {
  const receiver = new WebhookReceiver();
  const usual = getCACertificates('default');
  beforeAll(async () => {
    await receiver.listen();
    setDefaultCACertificates([...usual, receiver.certificate]);
  });
  beforeEach(async () => {
    receiver.reset();
    await service.pool.query('DELETE FROM platen.webhooks');
  });
  afterAll(() => {
    setDefaultCACertificates(usual);
    receiver.stop();
  });
  return receiver;
}

export class WebhookReceiver {
  /** The requests so far. */
  readonly got: Got[] = [];
  /** What is answered at each path, else 204; null: nothing, ever. */
  answers: Record<string, number | null> = {};
  /** Its own authority. */
  readonly certificate: string;
  readonly #server: Server;

  constructor() {
    const own = selfSigned();
    this.certificate = own.cert;
    this.#server = createServer(own, async (request, response) => {
      let body = '';
      for await (const chunk of request.setEncoding('utf8')) body += chunk;
      const path = request.url ?? '';
      const status = this.answers[path] === undefined ? 204 : this.answers[path];
      this.got.push({ path, headers: request.headers, body, status });
      if (status === null) return;
      if (status === 429) response.setHeader('retry-after', '3600');
      response.writeHead(status).end(status === 204 ? undefined : `answer ${status}`);
    });
  }

  /** One for a test. @returns it, and the environment of a service that believes its authority and may send to it */
  static async forTest(
    directory: string,
  ): Promise<{ receiver: WebhookReceiver; env: Record<string, string> }> {
    const receiver = new WebhookReceiver();
    await receiver.listen();
    onTestFinished(() => receiver.stop());
    const authority = join(directory, 'authority.pem');
    await writeFile(authority, receiver.certificate);
    return { receiver, env: { NODE_EXTRA_CA_CERTS: authority, PLATEN_WEBHOOK_ALLOW: '127.0.0.0/8' } };
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  get base(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Forgets what came, and answers 204 everywhere. */
  reset(): void {
    this.answers = {};
    this.got.length = 0;
  }

  /** The requests at a path, once there are as many. */
  async arrived(path: string, count: number): Promise<Got[]> {
    const at = () => this.got.filter((one) => one.path === path);
    await vi.waitFor(() => expect(at().length).toBeGreaterThanOrEqual(count), {
      timeout: 90_000,
      interval: 50,
    });
    return at();
  }
}

/** @throws where the signature does not fit, or the body is none */
export function verified({ headers, body }: Got, secret: string): z.infer<typeof webhookBody> {
  const named = z.record(z.string(), z.string()).parse(headers);
  return webhookBody.parse(new Webhook(secret).verify(body, named));
}
