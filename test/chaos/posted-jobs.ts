/** What was posted and accepted, and what each job has to put on paper. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { IntegrationCreated } from '../../src/contract/admin.ts';

export interface PostedJob {
  /** In the order of posting. */
  number: number;
  /** Index of its printer. */
  printer: number;
  records: number;
  copies: number;
  id: string;
  /** When the service said that it has it, by `Date.now()`. */
  acceptedAt: number;
}

export const TEMPLATE = {
  name: 'numbered',
  width: 50,
  height: 25,
  fields: [{ name: 'number' }],
  elements: [{ type: 'text', x: 3, y: 3, width: 44, height: 8, text: '{{number}}', size: 6 }],
};

/** What stands on the labels of a job's record. */
export function labelId(job: { number: number }, record: number): string {
  return `K${job.number}R${record}Z`;
}

const tokenAnswer = z.object({ access_token: z.string(), expires_in: z.number() });
const jobAnswer = z.tuple([z.string()]);
/** After this the request is sent again, with the same key. */
const REQUEST_TIMEOUT_MS = 20_000;

/** An integrator who repeats what was not answered, with the same key, until it is. */
export class Poster {
  readonly #account: IntegrationCreated;
  readonly #templateId: string;
  #token: { value: string; until: number } | undefined;
  /** Requests that were sent again. */
  repeated = 0;

  constructor(account: IntegrationCreated, templateId: string) {
    this.#account = account;
    this.#templateId = templateId;
  }

  /**
   * Resolves with the job's ID; undefined: `signal` had aborted when the first request got no answer.
   * @throws Error for a refusal that no repetition cures
   */
  async post(
    job: Omit<PostedJob, 'id' | 'acceptedAt'>,
    printerId: string,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const key = randomUUID();
    const data = Array.from({ length: job.records }, (_, record) => ({ number: labelId(job, record) }));
    const body = JSON.stringify({ idT: this.#templateId, printerId, numberCopies: job.copies, data });
    for (let attempt = 0; ; attempt++) {
      const answer = await this.#once(body, key);
      if (answer !== undefined) return answer;
      // Once repeated, a request goes on until it is answered: otherwise nobody knows whether there is a job.
      if (attempt === 0 && signal.aborted) return undefined;
      this.repeated++;
      await pause(300);
    }
  }

  /** undefined: no answer, or one that says to try again. */
  async #once(body: string, key: string): Promise<string | undefined> {
    let status: number;
    let text: string;
    try {
      const headers = {
        authorization: `Bearer ${await this.#bearer()}`,
        'content-type': 'application/json',
        'x-tenant': this.#account.tenant,
        'idempotency-key': key,
      };
      const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
      const response = await fetch(this.#account.printEndpoint, { method: 'POST', headers, body, signal });
      status = response.status;
      text = await response.text();
    } catch {
      return undefined;
    }
    if (status === 200 || status === 201) return jobAnswer.parse(JSON.parse(text))[0];
    if (status === 401) this.#token = undefined;
    if (status >= 500 || status === 401 || status === 429) return undefined;
    // While one agent is revoked and the other has just begun, nobody has the printer.
    if (text.includes('"code":"printer-unassigned"')) return undefined;
    throw new Error(`POST was answered with ${status}: ${text.slice(0, 500)}`);
  }

  async #bearer(): Promise<string> {
    if (this.#token !== undefined && this.#token.until > Date.now()) return this.#token.value;
    const { tokenUrl, apiKey, apiSecret, audience, scope } = this.#account;
    const form = new URLSearchParams({ grant_type: 'client_credentials', audience, scope });
    form.set('client_id', apiKey);
    form.set('client_secret', apiSecret);
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    const response = await fetch(tokenUrl, { method: 'POST', body: form, signal });
    const { access_token: value, expires_in } = tokenAnswer.parse(await response.json());
    this.#token = { value, until: Date.now() + (expires_in - 30) * 1_000 };
    return value;
  }
}
