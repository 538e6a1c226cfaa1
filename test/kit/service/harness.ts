/**
 * A real service for tests: HTTP on a free port, a database and a queue of its own on the real servers of
 * `test/kit/servers`, and both sides that talk to it: an integrator's and an agent's.
 */
import { randomBytes } from 'node:crypto';
import { Writable } from 'node:stream';
import type { PoolConfig } from 'pg';
import { z } from 'zod';
import {
  type IntegrationCreated,
  integrationCreated,
  type Permission,
  templateView,
} from '../../../src/contract/admin.ts';
import type { PrinterFormat } from '../../../src/contract/format.ts';
import { laneOf } from '../../../src/contract/lane.ts';
import type { PrinterDescription } from '../../../src/contract/printer.ts';
import { readReport } from '../../../src/contract/read-report.ts';
import type { AgentStateReport } from '../../../src/contract/report.ts';
import { createLogger, type Logger } from '../../../src/log.ts';
import { openQueues, type Queues } from '../../../src/queue/index.ts';
import { type ServerConfigInput, serverConfig } from '../../../src/server/config.ts';
import type { JobQueue } from '../../../src/server/jobs/dispatch/queue-port.ts';
import { Reports } from '../../../src/server/jobs/outcome/reports.ts';
import { Server } from '../../../src/server/server.ts';
import { createPool, type Pool } from '../../../src/server/store/pool.ts';
import { type BackendCase, type OpenBackend, onRedis, onServer } from '../servers/backends.ts';

export const ADMIN_TOKEN = 'admin-token-for-tests-0123456789';
export const SECRET_KEY = 'secret-key-for-tests-0123456789-0123456789';
export const AUDIENCE = 'platen';
/** The ID of a shared printer, which is its lane's name too. */
export const PRINTER = laneOf({ scope: null, printerId: 'serial-0a1b2c3d4e5f' });
export const FORMAT_203: PrinterFormat = {
  id: 'zpl-203-101x152',
  name: '4×6 203 dpi',
  language: 'zpl',
  dpi: 203,
  width: 101.6,
  height: 152.4,
};
export const FORMAT_300: PrinterFormat = {
  ...FORMAT_203,
  id: 'zpl-300-101x152',
  name: '4×6 300 dpi',
  dpi: 300,
};
export const FORMAT_PDF: PrinterFormat = {
  ...FORMAT_203,
  id: 'pdf-101x152',
  name: '4×6 PDF',
  language: 'pdf',
};

/** A label with the dynamic fields `sku` and `name`. */
export const TEMPLATE = {
  name: 'Shelf label',
  width: 101.6,
  height: 152.4,
  fields: [{ name: 'sku' }, { name: 'name' }],
  elements: [
    { type: 'text', x: 4, y: 4, text: '{{sku}}', size: 6 },
    { type: 'text', x: 4, y: 14, text: '{{name}}', size: 6 },
  ],
};

/** One line that says which label of a job it is, where `text` has the built-in fields. */
export function countingTemplate(text: string): object {
  return { ...TEMPLATE, name: 'Counting', elements: [{ type: 'text', x: 4, y: 4, text, size: 4 }] };
}

export type Answer = { status: number; headers: Headers; text: string; body: unknown };
export type CallOptions = {
  method?: string;
  token?: string | undefined;
  tenant?: string | undefined;
  key?: string | undefined;
  body?: unknown;
  /** A body sent as it stands. */
  raw?: string | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
};

const problem = z.object({
  code: z.string(),
  status: z.int(),
  errors: z.array(z.object({ pointer: z.string() })).optional(),
});

/** The stable code of a problem answer; undefined for anything else. */
export function codeOf(answer: Answer): string | undefined {
  return problem.safeParse(answer.body).data?.code;
}

/** The JSON pointers of a problem answer. */
export function pointersOf(answer: Answer): string[] {
  return (problem.parse(answer.body).errors ?? []).map((fault) => fault.pointer);
}

/** The job ID of an enqueue answer of either form. */
export function jobIdOf(answer: Answer): string {
  const body = z.union([z.tuple([z.string()]), z.string()]).parse(answer.body);
  return typeof body === 'string' ? body : body[0];
}

let agentClock = Date.now();

export interface ServiceOptions {
  /** Default: a database and a Redis prefix of its own. Whoever passes an open backend closes it. */
  backend?: OpenBackend | BackendCase;
  config?: Partial<ServerConfigInput>;
  /** May wrap the real queue, to make it fail. */
  queue?: (real: Queues) => JobQueue;
  /** Whether the default backend has Redis; without it the queue is in PostgreSQL too. */
  redis?: boolean;
  /** Of the service's connections: `{ lock_timeout: 100 }`. */
  database?: PoolConfig;
}

interface Running {
  url: string;
  backend: OpenBackend;
  server: Server;
  queues: Queues;
  pool: Pool;
  reports: Reports;
  stack: AsyncDisposableStack;
}

export class ServiceHarness {
  readonly logger: Logger;
  readonly #options: ServiceOptions;
  readonly #log: string[] = [];
  #running: Running | undefined;

  constructor(options: ServiceOptions = {}) {
    this.#options = options;
    const log = this.#log;
    const destination = new Writable({
      write(chunk, _encoding, done) {
        log.push(String(chunk));
        done();
      },
    });
    this.logger = createLogger({ level: 'debug', destination });
  }

  static async start(options: ServiceOptions = {}): Promise<ServiceHarness> {
    const service = new ServiceHarness(options);
    await service.start();
    return service;
  }

  async start(): Promise<void> {
    const options = this.#options;
    const { logger } = this;
    await using stack = new AsyncDisposableStack();
    const given = options.backend ?? ((options.redis ?? true) ? onRedis() : onServer());
    const backend = 'open' in given ? await given.open({ migrated: true }) : given;
    if ('open' in given) stack.defer(() => backend.close());
    const queues = await openQueues({
      redisUrl: backend.redisUrl,
      database: backend.database,
      prefix: backend.prefix,
      logger,
    });
    stack.defer(() => queues.close({ timeoutMs: 0 }));
    const server = new Server({
      config: serverConfig.parse({
        port: 0,
        adminToken: ADMIN_TOKEN,
        secretKey: SECRET_KEY,
        audience: AUDIENCE,
        ...options.config,
      }),
      database: { ...backend.database, ...options.database },
      queues: options.queue?.(queues) ?? queues,
      lanes: backend.redisUrl === undefined ? queues.lanes : undefined,
      logger,
    });
    const { url } = await server.start();
    stack.defer(() => server.stop());
    const pool = createPool({ database: { ...backend.database, ...options.database }, max: 4, logger });
    stack.defer(() => pool.end());
    this.#running = {
      url,
      backend,
      server,
      queues,
      pool,
      reports: new Reports(pool, logger),
      stack: stack.move(),
    };
  }

  async stop(): Promise<void> {
    await this.#running?.stack.disposeAsync();
  }

  get url(): string {
    return this.#started.url;
  }

  get server(): Server {
    return this.#started.server;
  }

  get queues(): Queues {
    return this.#started.queues;
  }

  /** For another instance on the same servers. */
  get backend(): OpenBackend {
    return this.#started.backend;
  }

  /** For looking at what is stored. */
  get pool(): Pool {
    return this.#started.pool;
  }

  get #started(): Running {
    if (this.#running === undefined) throw new Error('the service has not been started');
    return this.#running;
  }

  /** All that was logged so far. */
  get log(): string {
    return this.#log.join('');
  }

  async call(path: string, options: CallOptions = {}): Promise<Answer> {
    const { token, tenant, key, body, raw } = options;
    const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(this.url + path, {
      method: options.method ?? (sent === undefined ? 'GET' : 'POST'),
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(tenant === undefined ? {} : { 'x-tenant': tenant }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
        ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(sent === undefined ? {} : { body: sent }),
      redirect: 'manual',
      signal: AbortSignal.timeout(100_000),
    });
    const text = await response.text();
    const json = /json/.test(response.headers.get('content-type') ?? '');
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: json ? JSON.parse(text) : undefined,
    };
  }

  /** A request of the internal interface. */
  admin(method: string, path: string, body?: unknown): Promise<Answer> {
    return this.call(`/app${path}`, { method, token: ADMIN_TOKEN, body });
  }

  /** A picture of the internal interface, as PNG. */
  async picture(path: string): Promise<Buffer> {
    const response = await fetch(`${this.url}/app${path}`, {
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
      signal: AbortSignal.timeout(30_000),
    });
    const type = response.headers.get('content-type');
    if (response.status !== 200 || type !== 'image/png')
      throw new Error(`no picture: ${response.status} ${type}`);
    return Buffer.from(await response.arrayBuffer());
  }

  async tenant(id: string, quota?: number): Promise<string> {
    await this.server.ensureTenant({ id });
    if (quota !== undefined) await this.admin('PUT', `/tenants/${id}/quota`, { labels: quota });
    return id;
  }

  async integration(tenant: string, scope: Permission[] = ['jobs:enqueue']): Promise<IntegrationCreated> {
    const answer = await this.admin('POST', `/tenants/${tenant}/integrations`, { name: 'test', scope });
    return integrationCreated.parse(answer.body);
  }

  /** Imports a template and returns its ID. */
  async template(tenant: string, body: unknown = TEMPLATE): Promise<string> {
    return templateView.parse((await this.admin('POST', `/tenants/${tenant}/templates`, body)).body).id;
  }

  /** A token request by form, its fields replaced or (undefined) left out. */
  tokenRequest(
    account: IntegrationCreated,
    fields: Record<string, string | undefined> = {},
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const all = {
      grant_type: 'client_credentials',
      client_id: account.apiKey,
      client_secret: account.apiSecret,
      audience: account.audience,
      scope: account.scope,
      ...fields,
    };
    const form = new URLSearchParams();
    for (const [name, value] of Object.entries(all)) if (value !== undefined) form.set(name, value);
    return this.call('/oauth/token', {
      raw: form.toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    });
  }

  async token(account: IntegrationCreated, fields: Record<string, string | undefined> = {}): Promise<string> {
    return z.object({ access_token: z.string() }).parse((await this.tokenRequest(account, fields)).body)
      .access_token;
  }

  /** Reads and applies a report at once, as if it had come through the queue. */
  async report(report: object): Promise<'done' | 'early'> {
    const read = readReport(report);
    if ('issues' in read) throw new Error(`no report: ${read.issues.join(', ')}`);
    const early = await this.#started.reports.apply([{ report: read.report, ageMs: 0 }]);
    return early.length === 0 ? 'done' : 'early';
  }

  /** Reports an agent with these printers; each report is newer than the one before. */
  async agent(
    printers: readonly Partial<PrinterDescription>[],
    agent: Partial<Omit<AgentStateReport, 'kind' | 'printers'>> = {},
  ): Promise<void> {
    agentClock += 1;
    await this.report({
      kind: 'agent',
      agentId: 'agent-one',
      name: 'Agent one',
      version: '0.1.0',
      tenantId: null,
      at: new Date(agentClock).toISOString(),
      online: true,
      ...agent,
      printers: printers.map(describePrinter),
    });
  }
}

export function describePrinter(printer: Partial<PrinterDescription>): PrinterDescription {
  return {
    id: PRINTER,
    name: 'Zebra',
    evidence: 'serial',
    uri: 'socket://127.0.0.1:9100',
    state: 'idle',
    reasons: [],
    formats: [FORMAT_203, FORMAT_300, FORMAT_PDF],
    ...printer,
  };
}

/** A key that no other request has. */
export function newKey(): string {
  return `key-${randomBytes(9).toString('base64url')}`;
}
