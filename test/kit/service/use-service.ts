/** A service for the tests of a file, or of one `describe`, and a tenant that prints with it. */
import { afterAll, beforeAll } from 'vitest';
import type { IntegrationCreated, Permission } from '../../../src/contract/admin.ts';
import type { PrinterDescription } from '../../../src/contract/printer.ts';
import {
  type Answer,
  type CallOptions,
  jobIdOf,
  newKey,
  PRINTER,
  ServiceHarness,
  type ServiceOptions,
  TEMPLATE,
} from './harness.ts';

/** Starts the service before the tests, and stops it after them. */
export function useService(options: ServiceOptions = {}): ServiceHarness {
  const service = new ServiceHarness(options);
  beforeAll(() => service.start());
  afterAll(() => service.stop());
  return service;
}

export interface TenantOptions {
  id?: string;
  /** How many labels it may print; default: any number. */
  quota?: number;
  scope?: Permission[];
  template?: unknown;
  /** Printers that a shared agent reports; default: one, `PRINTER`. */
  printers?: readonly Partial<PrinterDescription>[];
}

/** A tenant with an account, a template, and printers that it reaches. */
export function useTenant(service: ServiceHarness, options: TenantOptions = {}): TestTenant {
  const tenant = new TestTenant(service, options.id ?? 'acme');
  beforeAll(() => tenant.open(options));
  return tenant;
}

export class TestTenant {
  readonly service: ServiceHarness;
  readonly id: string;
  /** Of its account. */
  token = '';
  #account: IntegrationCreated | undefined;
  /** Of its template. */
  idT = '';

  constructor(service: ServiceHarness, id: string) {
    this.service = service;
    this.id = id;
  }

  async open({ quota, scope, template = TEMPLATE, printers = [{}] }: TenantOptions): Promise<void> {
    const { service, id } = this;
    await service.tenant(id, quota);
    this.#account = await service.integration(id, scope);
    this.token = await service.token(this.#account);
    this.idT = await service.template(id, template);
    if (printers.length > 0) await service.agent(printers);
  }

  get account(): IntegrationCreated {
    if (this.#account === undefined) throw new Error('the tenant has no account yet');
    return this.#account;
  }

  /** Enqueues as the tenant's integrator does: a label on `PRINTER`, but for what `body` changes. */
  enqueue(body: object = {}, options: CallOptions = {}): Promise<Answer> {
    return this.#call('/v2/jobs', {
      key: newKey(),
      body: { idT: this.idT, printerId: PRINTER, ...body },
      ...options,
    });
  }

  validate(body: object = {}, options: CallOptions = {}): Promise<Answer> {
    return this.#call('/v2/jobs/validate', {
      body: { idT: this.idT, printerId: PRINTER, ...body },
      ...options,
    });
  }

  /** Enqueues as an administrator does. */
  byAdmin(body: object = {}): Promise<Answer> {
    const { id, idT } = this;
    return this.service.admin('POST', `/tenants/${id}/jobs`, { idT, printerId: PRINTER, ...body });
  }

  /** The ID of a job that is accepted. */
  async newJob(body: object = {}): Promise<string> {
    return jobIdOf(await this.enqueue(body));
  }

  /** As the tenant's account, at any address. */
  #call(path: string, options: CallOptions): Promise<Answer> {
    return this.service.call(path, { token: this.token, tenant: this.id, ...options });
  }
}
