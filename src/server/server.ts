/**
 * The service: its HTTP interface, the dispatch of accepted jobs into the queue, and the intake of reports
 * from it. It keeps no state of its own, so any number of instances may run on one database and queue.
 */

import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import cookies from '@fastify/cookie';
import type { PoolConfig } from 'pg';
import type { Registry } from 'prom-client';
import type { IntegrationCreated } from '../contract/admin.ts';
import type { Logger } from '../log.ts';
import { type AgentLanes, migrate } from '../queue/index.ts';
import { CheckPool } from '../rendering/check-pool.ts';
import { addedPrinterRoutes } from './admin/added-printer-routes.ts';
import { appJobRoutes } from './admin/job-routes.ts';
import { printerRoutes } from './admin/printer-routes.ts';
import { adminRoutes } from './admin/routes.ts';
import { createApp } from './app.ts';
import type { ServerConfig } from './config.ts';
import { consoleRoutes } from './console.ts';
import { docsRoutes } from './docs.ts';
import { ChangeFeed } from './events/change-feed.ts';
import { eventRoutes } from './events/event-streams.ts';
import { toldOf } from './events/told-changes.ts';
import { extraRoutes } from './extra-routes.ts';
import { FailedAttempts } from './failed-attempts.ts';
import { AgentStates } from './gateway/agent-states.ts';
import { BroughtPrinters } from './gateway/brought-printers.ts';
import { Enrolments } from './gateway/enrolments.ts';
import { Gateway } from './gateway/gateway.ts';
import { gatewayRoutes } from './gateway/routes.ts';
import { healthRoutes } from './health.ts';
import { ippRoutes } from './ipp/routes.ts';
import { Acceptance } from './jobs/accept/acceptance.ts';
import { Backlog } from './jobs/accept/backlog.ts';
import { forgetKeys } from './jobs/accept/idempotency.ts';
import { PrintRequests } from './jobs/accept/print-requests.ts';
import { RenderedLabels } from './jobs/accept/rendered-labels.ts';
import { Reprints } from './jobs/accept/reprints.ts';
import { RequestCheck } from './jobs/accept/request-check.ts';
import { AskedPrinters } from './jobs/accept/route.ts';
import { TestPrints } from './jobs/accept/test-prints.ts';
import { Dispatcher } from './jobs/dispatch/dispatcher.ts';
import type { Dispatching } from './jobs/dispatch/dispatching.ts';
import type { JobQueue } from './jobs/dispatch/queue-port.ts';
import { RowLanes } from './jobs/dispatch/row-lanes.ts';
import { Sweep } from './jobs/dispatch/sweep.ts';
import { Cancellations } from './jobs/outcome/cancellations.ts';
import { JobDecisions } from './jobs/outcome/decisions.ts';
import { JobMoves } from './jobs/outcome/moves.ts';
import { Moving } from './jobs/outcome/moving.ts';
import { Reports } from './jobs/outcome/reports.ts';
import { forgetJobs } from './jobs/outcome/retention.ts';
import { Withdrawals } from './jobs/outcome/withdrawals.ts';
import { jobRoutes } from './jobs/routes.ts';
import { JobList } from './jobs/shown/job-list.ts';
import { labelaryRoutes } from './labelary/routes.ts';
import { closeApp, urlOf } from './listening.ts';
import { metricsIn, toldAndNoted, tracesTo } from './metrics.ts';
import { authorization } from './oauth/authorization.ts';
import { Callers, identify } from './oauth/callers.ts';
import type { Credentials, NewIntegration } from './oauth/credentials.ts';
import { metadataRoutes } from './oauth/metadata.ts';
import { SigningKeys } from './oauth/signing-keys.ts';
import { tokenEndpoint } from './oauth/token-endpoint.ts';
import { openApiDocument } from './openapi.ts';
import { type AppRoute, guardApp } from './people/access.ts';
import { forgetEntries } from './people/audit.ts';
import { passkeyRoutes } from './people/passkey-routes.ts';
import { Passkeys } from './people/passkeys.ts';
import { People } from './people/people.ts';
import { peopleRoutes } from './people/people-routes.ts';
import { providerRoutes } from './people/provider-routes.ts';
import { PublicName } from './people/public-name.ts';
import { SessionCookie } from './people/session-cookie.ts';
import { sessionRoutes } from './people/session-routes.ts';
import { Sessions } from './people/sessions.ts';
import { SignIns } from './people/sign-ins.ts';
import { AddedPrinters, type ToldAgent } from './printers/added-printers.ts';
import { LaneHolds } from './printers/lane-holds.ts';
import { noteVirtuals, type OwnVirtuals } from './printers/virtual-printers.ts';
import { Expiries } from './printnode/expiries.ts';
import { printNodeRoutes } from './printnode/routes.ts';
import { RequestRate } from './request-rate.ts';
import { SecretKey } from './secret-key.ts';
import { createPool, type Pool } from './store/pool.ts';
import { PLATEN } from './store/schema.ts';
import { Templates } from './templates/templates.ts';
import { Tenants } from './tenants/tenants.ts';
import { countUsage } from './tenants/usage.ts';
import { webhookRoutes } from './webhooks/routes.ts';
import { startWebhooks } from './webhooks/sender.ts';

type ServerOptions = {
  config: ServerConfig;
  /** As `pg` takes it: `{connectionString}`, or host, port, user, … */
  database: PoolConfig;
  queues: JobQueue;
  /** For agents at other sites; left out: none can join. */
  lanes?: AgentLanes | undefined;
  /** The virtual printers of this process; a function, because they start after the service. */
  virtual?: () => OwnVirtuals | undefined;
  /** The agent of this process, which starts after the service. */
  agent?: () => ToldAgent | undefined;
  /** Where its numbers go; left out: nothing is counted. */
  metrics?: Registry | undefined;
  logger: Logger;
};

/** Connections that may wait to be accepted. Beyond this, a first attempt is lost and retried after 1 s. */
const BACKLOG = 4_096;

/** Threads that check templates and values. */
const CHECK_THREADS = Math.min(4, Math.max(2, availableParallelism() - 1));

/** What exists between `start` and `stop`. */
type Running = {
  url: string;
  tenants: Tenants;
  appRoutes: readonly AppRoute[];
  credentials: Credentials;
  rotateSigningKey: () => Promise<void>;
  pool: Pool;
};

export class Server {
  readonly #options: ServerOptions;
  #stack: AsyncDisposableStack | undefined;
  #running: Running | undefined;

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  /**
   * Migrates the database, then listens.
   * @returns the address that it listens on, which is the public one only where no proxy stands before it
   * @throws when the database cannot be reached or the port is taken; nothing is left running then
   */
  async start(): Promise<{ url: string }> {
    if (this.#stack !== undefined) throw new Error('the server is started already');
    await using stack = new AsyncDisposableStack();
    const running = await this.#build(stack);
    this.#stack = stack.move();
    this.#running = running;
    this.#options.logger.info({ url: running.url }, 'service listens');
    return { url: running.url };
  }

  /**
   * Says in `/readyz` that it stops, and serves on for `drainSeconds`; then lets the requests in hand finish, and ends
   * everything that `start` began. Idempotent.
   */
  async stop(): Promise<void> {
    const stack = this.#stack;
    this.#stack = undefined;
    if (stack !== undefined) await wait(this.#options.config.drainSeconds * 1_000);
    this.#running = undefined;
    await stack?.disposeAsync();
  }

  /** For `platen up`: creates the tenant if it does not exist. */
  async ensureTenant(tenant: { id: string; name?: string }): Promise<void> {
    await this.#started().tenants.ensure(tenant);
  }

  /** A new service account; its secret is shown here and never again. @throws ProblemError */
  async createIntegration(tenantId: string, options: NewIntegration): Promise<IntegrationCreated> {
    return this.#started().credentials.create(tenantId, options);
  }

  /** Tells all instances which virtual printers this process has now: test keys print there. */
  async noteVirtuals(): Promise<void> {
    await noteVirtuals(this.#started().pool, this.#options.virtual?.());
  }

  /** Adds a signing key, which signs once everybody has had time to fetch it. */
  async rotateSigningKey(): Promise<void> {
    await this.#started().rotateSigningKey();
  }

  /** The routes under `/app`, and what each of them needs. */
  get appRoutes(): readonly AppRoute[] {
    return this.#started().appRoutes;
  }

  #started(): Running {
    if (this.#running === undefined) throw new Error('the server is not started');
    return this.#running;
  }

  /** Starts each part after those that it depends on; the stack stops them in reverse order. */
  async #build(stack: AsyncDisposableStack): Promise<Running> {
    const { config, queues, lanes, logger } = this.#options;
    const applied = await migrate(this.#options.database, PLATEN).catch((cause: unknown) => {
      throw new Error('The database cannot be used', { cause });
    });
    if (applied.length > 0) logger.info({ migrations: applied }, 'database migrated');
    const pool = createPool({ database: this.#options.database, max: config.poolSize, logger });
    stack.defer(() => pool.end());

    const secretKey = new SecretKey(config.secretKey ?? randomUUID() + randomUUID());
    const keys = new SigningKeys(pool, config.tokenLifetime, secretKey);
    const failures = new FailedAttempts(pool, config.tokenFailures, 'tokens');
    if (config.externalAuth === undefined) await keys.maintain();

    const sessions = new Sessions(pool);
    const people = new People(pool, sessions);
    const passkeys = new Passkeys(pool);

    const { database } = this.#options;
    const feed = new ChangeFeed({ notifications: queues.notifications, database, pool, logger });
    feed.start();
    stack.defer(() => feed.stop());

    const dispatcher: Dispatching =
      queues.backend === 'postgres' ? new RowLanes(pool, logger) : new Dispatcher(pool, queues, logger);
    const cancellations = new Cancellations({ pool, queue: queues, logger });
    const holds = new LaneHolds({ pool, queue: queues, logger });
    const ownAgents = (): ToldAgent[] => [this.#options.agent?.()].filter((one) => one !== undefined);
    let gateway: Gateway | undefined;
    const added = new AddedPrinters(pool, () => [...ownAgents(), ...(gateway?.agents ?? [])]);
    const checks = new CheckPool({ threads: CHECK_THREADS, logger });
    checks.start();
    stack.defer(() => checks.stop());
    const printers = new AskedPrinters(pool);
    const backlog = new Backlog(pool, config.limits);
    const reprints = new Reprints({ pool, printers, checks, dispatcher, backlog, limits: config.limits });
    const changed = (jobs: string[]) => feed.tell({ jobs });
    const moving = new Moving({ pool, printers, checks, dispatcher, logger, changed });
    const withdrawals = new Withdrawals({ pool, queue: queues, logger, changed });
    const sweep = new Sweep({
      holds,
      expiries: new Expiries({ pool, cancellations, changed }),
      added,
      pool,
      queue: queues,
      dispatcher,
      cancellations,
      moving,
      withdrawals,
      logger,
      interval: config.sweepInterval,
      housekeeping: async () => {
        await forgetKeys(pool);
        await forgetJobs(pool, config.retention);
        await failures.forget();
        await sessions.forget();
        await passkeys.forget();
        await forgetEntries(pool);
        await countUsage(pool);
        if (config.externalAuth === undefined) await keys.maintain();
      },
    });
    const metrics = await metricsIn(this.#options.metrics, { pool, checks });
    const traces = await tracesTo(config.traces, pool, logger);
    stack.defer(() => traces?.stop());
    const told = toldAndNoted(toldOf(feed), metrics, traces);
    const reports = new Reports(pool, logger, told, dispatcher.inLanes);
    dispatcher.start();
    stack.defer(() => dispatcher.stop());
    await reports.start(queues);
    stack.defer(() => reports.stop());
    sweep.start();
    stack.defer(() => sweep.stop());
    const { webhooks, alerts, sender } = startWebhooks({ pool, key: secretKey, config, metrics, logger });
    stack.defer(() => sender.stop());

    const templates = new Templates(pool, checks, config.limits);
    const tenants = new Tenants(pool);
    const check = new RequestCheck({ printers, templates, limits: config.limits, checks });
    const acceptance = new Acceptance(pool, dispatcher.inLanes, backlog);
    const printRequests = new PrintRequests({
      pool,
      check,
      dispatcher,
      checks,
      acceptance,
      accepted: ({ jobId, printerId }) => {
        metrics?.accepted();
        feed.tell({ jobs: [jobId], printers: [printerId] });
      },
    });
    const decisions = new JobDecisions({ pool, checks, dispatcher, logger });

    // With port 0 the address is known only once the service listens, but routes are made before.
    const address: { url?: string } = {};
    const publicUrl = (): string => {
      const url = config.publicUrl ?? address.url;
      if (url === undefined) throw new Error('the service does not listen yet');
      return url;
    };
    const { own, integrations, tokens, credentials } = authorization({ config, pool, keys, publicUrl });
    const agents = { enrolments: new Enrolments(pool), printers: new BroughtPrinters(pool), feed };
    const states = config.secretKey === undefined ? undefined : new AgentStates(secretKey);
    gateway = lanes && new Gateway({ ...agents, lanes, states, most: config.limits.agents, logger });
    const app = createApp(config, logger, gateway);
    metrics?.watch(app);
    stack.defer(() => closeApp(app));
    stack.defer(() => gateway?.stop());
    app.server.once('listening', () => {
      address.url = urlOf(app, config.host);
    });
    // No hook: cookies are parsed only where a session is looked for.
    await app.register(cookies, { hook: false });
    const cookie = new SessionCookie(config.publicUrl);
    const appRoutes = guardApp(app, {
      adminToken: config.adminToken,
      pool,
      sessions,
      cookie,
      changed: (what) => feed.tell(what),
    });
    healthRoutes(app, {
      isStopping: () => this.#stack === undefined,
      checkDatabase: async () => void (await pool.query('SELECT 1')),
      checkQueue: async () => {
        if (!reports.connected) throw new Error('no reports are taken');
        await queues.ping();
      },
      also: async () => ({
        ...(await sender.health()),
        ...traces?.health(),
        ...(await agents.enrolments.health()),
      }),
    });
    consoleRoutes(app);
    docsRoutes(app, (openapi) => openApiDocument(config, publicUrl(), openapi));
    await app.register(webhookRoutes, { webhooks, alerts, tenants });
    const list = new JobList(pool);
    const rate = new RequestRate(config.limits.requestsPerSecond);
    const known = { tokens, integrations, tenants };
    const callers = new Callers((request, needed, how) => identify(request, needed, known, how), rate);
    jobRoutes(app, { callers, printRequests, traces });
    if (config.extraRoutes) {
      const labels = new RenderedLabels(templates, checks);
      extraRoutes(app, { callers, pool, list, cancellations, labels, queue: queues, changed });
    }
    if (config.labelary.on) await app.register(labelaryRoutes, { checks, config: config.labelary });
    const door = { integrations, failures, rate, pool, printRequests, cancellations, traces, changed };
    if (config.printNode) await app.register(printNodeRoutes, { ...door, queue: queues, config, tenants });
    if (config.ipp) await app.register(ippRoutes, { ...door, queue: queues, config, publicUrl, feed });
    await app.register(adminRoutes, {
      ...{ pool, tenants, templates, checks, printRequests, credentials, withdrawals },
      inLanes: dispatcher.inLanes,
    });
    const signIns = new SignIns({ pool, sessions, cookie, limits: config.limits });
    const attempts = new FailedAttempts(pool, config.tokenFailures, 'sign-ins');
    const comingIn = { pool, people, sessions, cookie, failures: attempts, tenants, signIns, passkeys };
    const name = new PublicName(config.publicUrl);
    await app.register(sessionRoutes, comingIn);
    await app.register(providerRoutes, { ...comingIn, config: config.singleSignOn, name });
    await app.register(passkeyRoutes, { ...comingIn, name });
    await app.register(eventRoutes, { feed, sessions, config: config.events });
    await app.register(gatewayRoutes, {
      ...{ ...agents, pool, gateway, publicUrl },
      failures: new FailedAttempts(pool, config.tokenFailures, 'enrolments'),
    });
    await app.register(peopleRoutes, { pool, people, tenants, publicUrl });
    const moves = new JobMoves({ pool, printers, checks, queue: queues, dispatcher, logger });
    await app.register(printerRoutes, {
      pool,
      queue: queues,
      list,
      holds,
      tests: new TestPrints({ pool, printers, dispatcher, backlog }),
      ...{ cancellations, decisions, moves, withdrawals, publicUrl },
      ipp: config.ipp,
      virtual: this.#options.virtual ?? (() => undefined),
    });
    await app.register(addedPrinterRoutes, {
      added,
      hears: (id) => queues.backend === 'postgres' || ownAgents().some((own) => own.id === id),
    });
    await app.register(appJobRoutes, { pool, checks, list, decisions, cancellations, moves, reprints });
    if (own !== undefined && integrations !== undefined) {
      metadataRoutes(app, { keys, issuer: publicUrl });
      await app.register(tokenEndpoint, { config, integrations, tokens: own, failures });
    }
    await app.listen({ host: config.host, port: config.port, backlog: BACKLOG }).catch((cause: unknown) => {
      throw new Error(`The service cannot listen on port ${config.port}`, { cause });
    });
    return {
      url: urlOf(app, config.host),
      tenants,
      appRoutes,
      credentials,
      rotateSigningKey: () => keys.rotate(),
      pool,
    };
  }
}
