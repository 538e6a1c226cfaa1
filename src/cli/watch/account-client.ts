/** Prints the files of a watched folder with an integration's account, by the interface that integrators use. */
import { z } from 'zod';
import type { IntegrationCreated, TemplateView } from '../../contract/admin.ts';
import type { JobView } from '../../contract/job.ts';
import type { PrintRequestInput } from '../../contract/print-request.ts';
import { askForJob } from '../admin-client.ts';
import { readJson } from '../config-file.ts';
import { CommandFailure } from '../failure.ts';
import { ServiceRefusal } from '../refusal.ts';
import { exchange } from '../service-request.ts';
import type { Connect, FolderClient } from './printed.ts';

/** s before its end that a token is not used any more. */
const SPARE_S = 30;
/** Pages of a list that are read: a tenant has some thousand templates or printers at most. */
const MOST_PAGES = 1_000;

/** The code of an account that gets no token. */
export const REFUSED = 'account-refused';

const token = z.object({ access_token: z.string().min(1), expires_in: z.number() });

/**
 * The account is read again with each token, so that a new secret counts soon.
 * @param file what `platen integration create --json` has printed
 * @param signal ends requests that are under way
 */
export function accountIn(file: string, signal: AbortSignal): Connect {
  let client: AccountClient | undefined;
  return async () => {
    if (client?.isUsable !== true) client = await AccountClient.begin(file, signal);
    return client;
  };
}

class AccountClient implements FolderClient {
  readonly #account: IntegrationCreated;
  readonly #token: string;
  readonly #signal: AbortSignal;
  #until: number;

  private constructor(account: IntegrationCreated, said: z.infer<typeof token>, signal: AbortSignal) {
    this.#account = account;
    this.#signal = signal;
    this.#token = said.access_token;
    this.#until = performance.now() + (said.expires_in - SPARE_S) * 1_000;
  }

  /** @throws CommandFailure for a file that holds no account, or an account that gets no token */
  static async begin(file: string, signal: AbortSignal): Promise<AccountClient> {
    const { integrationCreated } = await import('../../contract/admin.ts');
    const { data: account } = integrationCreated.safeParse(await readJson(file));
    if (account === undefined || !URL.canParse(account.tokenUrl) || !URL.canParse(account.printEndpoint)) {
      throw new CommandFailure(
        `${file} holds no account: expected what "platen integration create --json" has printed`,
      );
    }
    const { apiKey, apiSecret, audience, scope, tokenUrl } = account;
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: apiKey,
      client_secret: apiSecret,
      ...{ audience, scope },
    });
    const type = 'application/x-www-form-urlencoded';
    const { answer } = await exchange(token, tokenUrl, '', {
      method: 'POST',
      body: body.toString(),
      type,
      signal,
    }).catch((error: unknown) => {
      if (!(error instanceof ServiceRefusal)) throw error;
      const why = `The account in ${file} gets no token: ${error.message}`;
      throw new ServiceRefusal(error.status, REFUSED, why);
    });
    return new AccountClient(account, answer, signal);
  }

  /** Whether its token is still good, as far as is known. */
  get isUsable(): boolean {
    return performance.now() < this.#until;
  }

  async templates(): Promise<Pick<TemplateView, 'id' | 'name' | 'language' | 'fields'>[]> {
    const { integratorTemplates } = await views();
    const templates = await this.#pages(integratorTemplates, 'templates', (page) => page.templates);
    return templates.map(({ fields, ...template }) => ({
      ...template,
      fields: fields.map(({ name }) => name),
    }));
  }

  async printers(): Promise<{ id: string; name: string }[]> {
    const { integratorPrinters } = await views();
    return await this.#pages(integratorPrinters, 'printers', ({ printers }) => printers);
  }

  async enqueue(_tenant: string, request: PrintRequestInput, idempotencyKey: string) {
    const asked = { method: 'POST', body: JSON.stringify(request), idempotencyKey };
    return await this.#known(askForJob(this.#account.printEndpoint, '', { ...asked, ...this.#caller }));
  }

  async job(id: string): Promise<JobView> {
    const { jobView } = await import('../../contract/job.ts');
    return await this.#ask(jobView, `jobs/${encodeURIComponent(id)}`);
  }

  get #caller() {
    return { token: this.#token, tenant: this.#account.tenant, signal: this.#signal };
  }

  async #pages<P extends { next: string | null }, T>(
    schema: z.ZodType<P>,
    what: string,
    of: (page: P) => readonly T[],
  ): Promise<T[]> {
    const all: T[] = [];
    let path = what;
    for (let count = 0; count < MOST_PAGES; count++) {
      const page = await this.#ask(schema, path);
      all.push(...of(page));
      if (page.next === null) return all;
      path = `${what}?after=${encodeURIComponent(page.next)}`;
    }
    throw new CommandFailure(`The service lists more than ${MOST_PAGES} pages of ${what}.`);
  }

  /** @param path beside that of jobs */
  async #ask<T>(schema: z.ZodType<T>, path: string): Promise<T> {
    const { href } = new URL(path, this.#account.printEndpoint);
    const { answer } = await this.#known(exchange(schema, href, '', { method: 'GET', ...this.#caller }));
    return answer;
  }

  /** A token that the service does not take is used no more. */
  async #known<T>(asked: Promise<T>): Promise<T> {
    return await asked.catch((error: unknown) => {
      if (error instanceof ServiceRefusal && error.status === 401) this.#until = 0;
      throw error;
    });
  }
}

const views = () => import('../../contract/integrator-view.ts');
