/** Makes service accounts; returns all that a system needs to print, with the secret, which is shown once. */
import type {
  IntegrationCreated,
  IntegrationRotated,
  IntegrationView,
  Permission,
} from '../../contract/admin.ts';
import { ProblemError } from '../problems.ts';
import type { Also } from '../store/pool.ts';
import type { Integrations } from './integrations.ts';
import { printNodeKey } from './secret.ts';

type Addresses = Pick<IntegrationCreated, 'tokenUrl' | 'audience' | 'printEndpoint'>;

/** `test`: a test key. */
export type NewIntegration = { name: string; scope: readonly Permission[]; test?: boolean };

export class Credentials {
  readonly #integrations: Integrations | undefined;
  readonly #addresses: () => Addresses;
  readonly #printNode: boolean;

  /**
   * @param integrations undefined where the accounts are an external server's
   * @param printNode whether PrintNode's clients, or IPP's, may call
   */
  constructor(integrations: Integrations | undefined, addresses: () => Addresses, printNode: boolean) {
    this.#integrations = integrations;
    this.#printNode = printNode;
    this.#addresses = addresses;
  }

  /** @throws ProblemError `authorization-external` */
  get integrations(): Integrations {
    if (this.#integrations !== undefined) return this.#integrations;
    throw new ProblemError(
      'authorization-external',
      'make service accounts at the external authorization server',
    );
  }

  /** @throws ProblemError `authorization-external`, `tenant-not-found` */
  async create(
    tenant: string,
    { name, scope, test = false }: NewIntegration,
    also?: Also<IntegrationView>,
  ): Promise<IntegrationCreated> {
    const account = await this.integrations.create(tenant, { name, scope, test }, also);
    return { ...this.#addresses(), scope: scope.join(' '), tenant, test, ...this.#secret(account) };
  }

  /** @throws ProblemError `authorization-external`, `integration-not-found`, `secrets-limit` */
  async rotate(
    tenant: string,
    apiKey: string,
    hours: number | undefined,
    also?: Also<IntegrationView>,
  ): Promise<IntegrationRotated> {
    const { integration, apiSecret } = await this.integrations.rotate(tenant, apiKey, hours, also);
    const { scope, test, oldSecret } = integration;
    return {
      ...{ ...this.#addresses(), scope, tenant, test, ...this.#secret({ apiKey, apiSecret }) },
      oldSecret,
    };
  }

  #secret(account: { apiKey: string; apiSecret: string }) {
    return { ...account, ...(this.#printNode && { printNodeKey: printNodeKey(account) }) };
  }
}
