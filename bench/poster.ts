/** An integrator's client: `POST /v2/jobs` over connections that are kept open. */
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { PrintRequestInput } from '../src/contract/print-request.ts';
import type { Integrator } from '../test/kit/service/platen.ts';

const TIMEOUT_MS = 15_000;

export class Poster {
  readonly #agent = new Agent({ keepAlive: true });
  readonly #url: string;
  readonly #headers: Record<string, string>;

  constructor(integrator: Integrator) {
    this.#url = integrator.account.printEndpoint;
    this.#headers = {
      authorization: `Bearer ${integrator.token}`,
      'content-type': 'application/json',
      'x-tenant': integrator.account.tenant,
    };
  }

  /** Resolves once the job is acknowledged. @throws Error when it is refused */
  async post(job: PrintRequestInput): Promise<void> {
    const body = JSON.stringify(job);
    const { status, answer } = await new Promise<{ status: number; answer: string }>((resolve, reject) => {
      const out = request(
        this.#url,
        {
          method: 'POST',
          agent: this.#agent,
          timeout: TIMEOUT_MS,
          headers: {
            ...this.#headers,
            'idempotency-key': randomUUID(),
            'content-length': Buffer.byteLength(body),
          },
        },
        (response) => {
          const status = response.statusCode ?? 0;
          text(response).then((answer) => resolve({ status, answer }), reject);
        },
      );
      out.on('timeout', () => out.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)));
      out.on('error', reject);
      out.end(body);
    });
    if (status !== 201) throw new Error(`POST /v2/jobs answered ${status}: ${answer}`);
  }

  close(): void {
    this.#agent.destroy();
  }
}
