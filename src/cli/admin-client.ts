/**
 * The client by which commands talk to a service: the internal routes under `/app` (see `contract/admin.ts`),
 * with the deployment's admin token. Every answer is checked against the contract.
 */
import { z } from 'zod';
import type {
  IntegrationCreated,
  IntegrationRotated,
  IntegrationView,
  TemplateView,
  TenantErased,
  TenantView,
  ValidationResult,
} from '../contract/admin.ts';
import { type AgentView, agentView } from '../contract/agent-view.ts';
import type { JobView } from '../contract/job.ts';
import type {
  JobBulkResult,
  JobReprint,
  JobTarget,
  jobBulk,
  jobCancel,
  jobResume,
} from '../contract/job-actions.ts';
import type { MovedJob } from '../contract/job-details.ts';
import type { JobFilter } from '../contract/job-search.ts';
import type { AuditPage, InvitationCreated, PersonView, SignInLink } from '../contract/people.ts';
import type { PrintRequestInput } from '../contract/print-request.ts';
import type { PrinterDetails } from '../contract/printer-actions.ts';
import { type PrinterView, printerView } from '../contract/printer-view.ts';
import { warningsIn } from './job-warnings.ts';
import { type ExchangeOptions, exchange } from './service-request.ts';
import { type ServiceFile, type ServiceOptions, serviceOf } from './which-service.ts';

/** For a thousand jobs. */
const BULK_TIMEOUT_MS = 300_000;

/** A printer's ID, and the tenant that tells it from another printer with the same ID. */
type PrinterMeant = Pick<PrinterView, 'id' | 'tenant'>;

function pathOf({ id, tenant }: PrinterMeant, action?: string): string {
  const path = `/app/printers/${encodeURIComponent(id)}${action === undefined ? '' : `/${action}`}`;
  return `${path}?scope=${encodeURIComponent(tenant ?? 'shared')}`;
}

/** Loaded where needed: making the schemas of every route takes longer than the rest of a short command. */
const admin = () => import('../contract/admin.ts');
const jobs = () => import('../contract/job.ts');
const jobActions = () => import('../contract/job-actions.ts');
const people = () => import('../contract/people.ts');
const printerActions = () => import('../contract/printer-actions.ts');

export class AdminClient {
  readonly #url: string;
  readonly #token: string;

  constructor(service: ServiceFile) {
    this.#url = new URL(service.url).href.replace(/\/$/, '');
    this.#token = service.adminToken;
  }

  async createTenant(tenant: { id: string; name?: string }): Promise<TenantView> {
    const { tenantView } = await admin();
    return this.#call(tenantView, 'POST', '/app/tenants', tenant);
  }
  async tenants(): Promise<TenantView[]> {
    const { tenantView } = await admin();
    return this.#call(z.array(tenantView), 'GET', '/app/tenants');
  }
  /** Erases the tenant, or some of it where there is much: ask again until all of it is gone. */
  async eraseTenant(tenant: string): Promise<TenantErased> {
    const { tenantErased } = await admin();
    return this.#call(tenantErased, 'DELETE', `/app/tenants/${encodeURIComponent(tenant)}`);
  }
  async setQuota(tenant: string, labels: number | null): Promise<TenantView> {
    const { tenantView } = await admin();
    return this.#call(tenantView, 'PUT', `/app/tenants/${encodeURIComponent(tenant)}/quota`, { labels });
  }

  async setPrinterCommands(tenant: string, allowed: boolean): Promise<TenantView> {
    const { tenantView } = await admin();
    const path = `/app/tenants/${encodeURIComponent(tenant)}/printer-commands`;
    return this.#call(tenantView, 'PUT', path, { allowed });
  }

  async setMediaFit(tenant: string, must: boolean): Promise<TenantView> {
    const { tenantView } = await admin();
    return this.#call(tenantView, 'PUT', `/app/tenants/${encodeURIComponent(tenant)}/media-fit`, { must });
  }

  async createIntegration(
    tenant: string,
    integration: { name: string; scope?: string[]; test?: boolean },
  ): Promise<IntegrationCreated> {
    const { integrationCreated } = await admin();
    return this.#call(integrationCreated, 'POST', this.#of(tenant, 'integrations'), integration);
  }
  async integrations(tenant: string): Promise<IntegrationView[]> {
    const { integrationView } = await admin();
    return this.#call(z.array(integrationView), 'GET', this.#of(tenant, 'integrations'));
  }
  /** What is asked of a tenant's webhooks. @param path behind `/webhooks` */
  webhooks<T>(schema: z.ZodType<T>, method: string, tenant: string, path = '', body?: unknown): Promise<T> {
    return this.#call(schema, method, `${this.#of(tenant, 'webhooks')}${path}`, body);
  }
  /** What is asked of a tenant's receivers of alerts. */
  alerts<T>(schema: z.ZodType<T>, method: string, tenant: string, body?: unknown): Promise<T> {
    return this.#call(schema, method, this.#of(tenant, 'alerts'), body);
  }
  /** What is asked of agents. @param path behind `/app/agents` */
  ofAgents<T>(schema: z.ZodType<T>, method: string, path: string, body?: unknown): Promise<T> {
    return this.#call(schema, method, `/app/agents${path}`, body);
  }
  /** @param oldForHours how long the old secret works; undefined: until it is removed */
  async rotateIntegration(
    tenant: string,
    apiKey: string,
    oldForHours: number | undefined,
  ): Promise<IntegrationRotated> {
    const { integrationRotated } = await admin();
    const path = `${this.#of(tenant, 'integrations', apiKey)}/secrets`;
    return this.#call(integrationRotated, 'POST', path, {
      ...(oldForHours !== undefined && { oldForHours }),
    });
  }
  async removeSecret(tenant: string, apiKey: string, which: 'old' | 'new'): Promise<IntegrationView> {
    const { integrationView } = await admin();
    const path = `${this.#of(tenant, 'integrations', apiKey)}/secrets/${which}`;
    return this.#call(integrationView, 'DELETE', path);
  }
  revokeIntegration(tenant: string, apiKey: string): Promise<unknown> {
    return this.#call(z.unknown(), 'DELETE', this.#of(tenant, 'integrations', apiKey));
  }

  async importTemplate(tenant: string, template: unknown): Promise<TemplateView> {
    const { templateView } = await admin();
    return this.#call(templateView, 'POST', this.#of(tenant, 'templates'), template);
  }
  async templates(tenant: string): Promise<TemplateView[]> {
    const { templateView } = await admin();
    return this.#call(z.array(templateView), 'GET', this.#of(tenant, 'templates'));
  }
  async template(tenant: string, id: string): Promise<TemplateView & { template: unknown }> {
    const { templateView } = await admin();
    const schema = templateView.extend({ template: z.unknown() });
    return this.#call(schema, 'GET', this.#of(tenant, 'templates', id));
  }

  async renameTemplate(tenant: string, id: string, name: string): Promise<TemplateView> {
    const { templateView } = await admin();
    const path = `${this.#of(tenant, 'templates', id)}/name`;
    return this.#call(templateView, 'PUT', path, { name });
  }
  async deleteTemplate(tenant: string, id: string): Promise<TemplateView> {
    const { templateView } = await admin();
    return this.#call(templateView, 'DELETE', this.#of(tenant, 'templates', id));
  }

  /** @param gone list the printers that no agent has any more, instead of those that an agent has */
  printers(tenant?: string, gone = false): Promise<PrinterView[]> {
    const query = new URLSearchParams({
      ...(tenant !== undefined && { tenant }),
      ...(gone && { gone: 'true' }),
    });
    return this.#call(z.array(printerView), 'GET', `/app/printers?${query}`);
  }
  async holdPrinter(printer: PrinterMeant, why?: string): Promise<PrinterDetails> {
    const { printerDetails } = await printerActions();
    return this.#call(printerDetails, 'POST', pathOf(printer, 'hold'), why === undefined ? {} : { why });
  }
  /** What needs no more to be said. */
  async actOnPrinter(
    printer: PrinterMeant,
    action: 'resume' | 'hide' | 'show' | 'offer' | 'withdraw',
  ): Promise<PrinterDetails> {
    const { printerDetails } = await printerActions();
    return this.#call(printerDetails, 'POST', pathOf(printer, action), {});
  }
  async clearPrinter(
    printer: PrinterMeant,
    options: { dryRun: boolean; printing: boolean; why?: string },
  ): Promise<JobBulkResult> {
    const { printerCleared } = await printerActions();
    return this.#call(printerCleared, 'POST', pathOf(printer, 'clear'), options);
  }
  /** @param name null: the name that its agent gives it */
  async renamePrinter(printer: PrinterMeant, name: string | null): Promise<PrinterDetails> {
    const { printerDetails } = await printerActions();
    return this.#call(printerDetails, 'PUT', pathOf(printer, 'name'), { name });
  }
  async printer(printer: PrinterMeant): Promise<PrinterDetails> {
    const { printerDetails } = await printerActions();
    return this.#call(printerDetails, 'GET', pathOf(printer));
  }
  /** @param settings all that people set; for what is left out, the agent's configuration counts */
  async setPrinter(printer: PrinterMeant, settings: object): Promise<PrinterDetails> {
    const { printerDetails } = await printerActions();
    return this.#call(printerDetails, 'PUT', pathOf(printer, 'settings'), settings);
  }
  /** @param tenants all that may use a shared printer; null: every tenant */
  async grantPrinter(printer: PrinterMeant, tenants: readonly string[] | null): Promise<PrinterDetails> {
    const { printerDetails } = await printerActions();
    return this.#call(printerDetails, 'PUT', pathOf(printer, 'grants'), { tenants });
  }
  forgetPrinter(printer: PrinterMeant): Promise<unknown> {
    return this.#call(z.null(), 'DELETE', pathOf(printer));
  }
  async testPrinter(printer: PrinterMeant, body: { tenant: string; format?: string }): Promise<string> {
    const { printerTested } = await printerActions();
    return (await this.#call(printerTested, 'POST', pathOf(printer, 'test'), body)).id;
  }

  agents(tenant?: string): Promise<AgentView[]> {
    const query = tenant === undefined ? '' : `?tenant=${encodeURIComponent(tenant)}`;
    return this.#call(z.array(agentView), 'GET', `/app/agents${query}`);
  }

  /** Enqueues a job with the deployment's own authority, not an integration's; returns its ID. */
  async print(tenant: string, request: PrintRequestInput): Promise<string> {
    return (await this.enqueue(tenant, request)).id;
  }
  /**
   * The same. With a key it is one job however often it is sent: a repeated request gets the first one's job while the
   * service keeps the key (`KEY_HOURS`), and `again` says that this was one. `warnings`: what a new job is warned of, in words.
   */
  async enqueue(
    tenant: string,
    request: PrintRequestInput,
    key?: string,
  ): Promise<{ id: string; again: boolean; warnings: string[] }> {
    const body = JSON.stringify(request);
    const asked = { method: 'POST', token: this.#token, body, idempotencyKey: key };
    return await askForJob(this.#url, this.#of(tenant, 'jobs'), asked);
  }
  async validate(tenant: string, request: PrintRequestInput): Promise<ValidationResult> {
    const { validationResult } = await admin();
    return this.#call(validationResult, 'POST', `${this.#of(tenant, 'jobs')}/validate`, request);
  }

  /** The newest jobs that match the filter. */
  async jobs(filter: Partial<Record<keyof JobFilter, string | number | undefined>> = {}): Promise<JobView[]> {
    const { jobPage } = await import('../contract/job-search.ts');
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(filter))
      if (value !== undefined) query.set(name, String(value));
    return (await this.#call(jobPage, 'GET', `/app/jobs?${query}`)).jobs;
  }
  async job(id: string, signal?: AbortSignal): Promise<JobView> {
    const { jobView } = await jobs();
    return this.#call(jobView, 'GET', `/app/jobs/${encodeURIComponent(id)}`, undefined, signal);
  }
  /** The job, and the jobs that it was moved from and to. */
  async movedJob(id: string): Promise<MovedJob> {
    const { movedJob } = await import('../contract/job-details.ts');
    return this.#call(movedJob, 'GET', `/app/jobs/${encodeURIComponent(id)}`);
  }
  async cancelJob(id: string, body: z.input<typeof jobCancel> = {}): Promise<JobView> {
    const { jobView } = await jobs();
    return this.#call(jobView, 'POST', `/app/jobs/${encodeURIComponent(id)}/cancel`, body);
  }
  /** @param body `from` is the first label to print; without it, the service decides which */
  async resumeJob(id: string, body: z.input<typeof jobResume> = {}): Promise<JobView> {
    const { jobView } = await jobs();
    return this.#call(jobView, 'POST', `/app/jobs/${encodeURIComponent(id)}/resume`, body);
  }
  async moveJob(id: string, to: JobTarget & { from?: number; why?: string }): Promise<JobView> {
    const { jobView } = await jobs();
    return this.#call(jobView, 'POST', `/app/jobs/${encodeURIComponent(id)}/move`, to);
  }
  /** @returns the new job's ID */
  async reprintJob(id: string, reprint: JobReprint): Promise<string> {
    const { jobReprinted } = await jobActions();
    return (await this.#call(jobReprinted, 'POST', `/app/jobs/${encodeURIComponent(id)}/reprint`, reprint))
      .id;
  }
  async bulk(body: z.input<typeof jobBulk>): Promise<JobBulkResult> {
    const { jobBulkResult } = await jobActions();
    return this.#call(jobBulkResult, 'POST', '/app/jobs/bulk', body, undefined, BULK_TIMEOUT_MS);
  }

  async people(tenant: string): Promise<PersonView[]> {
    const { personView } = await people();
    return this.#call(z.array(personView), 'GET', this.#of(tenant, 'people'));
  }
  async invite(
    tenant: string,
    person: { login: string; name?: string; role?: string },
  ): Promise<InvitationCreated> {
    const { invitationCreated } = await people();
    return this.#call(invitationCreated, 'POST', this.#of(tenant, 'people'), person);
  }
  async inviteAgain(tenant: string, id: string): Promise<InvitationCreated> {
    const { invitationCreated } = await people();
    return this.#call(invitationCreated, 'POST', `${this.#of(tenant, 'people', id)}/invitation`);
  }
  async setRole(tenant: string, id: string, role: string): Promise<PersonView> {
    const { personView } = await people();
    return this.#call(personView, 'PUT', this.#of(tenant, 'people', id), { role });
  }
  async revokePerson(tenant: string, id: string): Promise<PersonView> {
    const { personView } = await people();
    return this.#call(personView, 'DELETE', this.#of(tenant, 'people', id));
  }
  /** A link to the console that signs its person in once. */
  async signInLink(person: { tenant?: string; login?: string } = {}): Promise<SignInLink> {
    const { signInLink } = await people();
    return this.#call(signInLink, 'POST', '/app/links', person);
  }
  async auditPage(filter: { tenant?: string; before?: string; limit?: number }): Promise<AuditPage> {
    const { auditPage } = await people();
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(filter))
      if (value !== undefined) query.set(name, String(value));
    return this.#call(auditPage, 'GET', `/app/audit?${query}`);
  }

  #of(tenant: string, what: string, id?: string): string {
    const of = id === undefined ? '' : `/${encodeURIComponent(id)}`;
    return `/app/tenants/${encodeURIComponent(tenant)}/${what}${of}`;
  }

  async #call<T>(
    schema: z.ZodType<T>,
    method: string,
    path: string,
    body?: unknown,
    signal?: AbortSignal,
    timeoutMs?: number,
  ): Promise<T> {
    const { answer } = await exchange(schema, this.#url, path, {
      ...{ method, token: this.#token, signal, timeoutMs },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return answer;
  }
}

/** The answer to a print request: an array with the job's ID when data was supplied, else the bare ID. */
const printAnswer = z.union([z.string(), z.tuple([z.string()])]);

/** @returns the job, as `AdminClient.enqueue` does. @throws as `exchange` does */
export async function askForJob(
  ...asked: [base: string, path: string, request: ExchangeOptions]
): Promise<{ id: string; again: boolean; warnings: string[] }> {
  const { status, headers, answer } = await exchange(printAnswer, ...asked);
  const id = typeof answer === 'string' ? answer : answer[0];
  return { id, again: status === 200, warnings: warningsIn(headers['platen-warnings']) };
}

/** @throws CommandFailure when there is none, or no token for it */
export async function connect(options: ServiceOptions): Promise<AdminClient> {
  return new AdminClient(await serviceOf(options));
}
