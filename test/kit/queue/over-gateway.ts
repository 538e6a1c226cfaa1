/**
 * A backend whose agents are at another site: what they say goes over a WebSocket of each to a gateway of this process, with
 * its lanes in PostgreSQL. What the service says of the lanes goes to PostgreSQL as ever.
 */
import { generateKeyPairSync, type KeyPairKeyObjectResult, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { PoolConfig } from 'pg';
import { z } from 'zod';
import type { BroughtState } from '../../../src/contract/agent-view.ts';
import { signedToEnroll } from '../../../src/contract/gateway.ts';
import { plainCode } from '../../../src/contract/invitation.ts';
import { type Scope, scopeOf } from '../../../src/contract/lane.ts';
import { createLogger } from '../../../src/log.ts';
import { GatewayLanes } from '../../../src/queue/gateway/lanes.ts';
import {
  type AgentQueue,
  type JoiningAgent,
  openGateway,
  openQueues,
  Queues,
  type QueuesOptions,
} from '../../../src/queue/index.ts';
import type { AgentLanes } from '../../../src/queue/lane-store.ts';
import { openPostgres } from '../../../src/queue/postgres/lanes.ts';
import { ErrorLogger, type QueueLogger } from '../../../src/queue/queue-log.ts';
import { AgentStates } from '../../../src/server/gateway/agent-states.ts';
import { Enrolments } from '../../../src/server/gateway/enrolments.ts';
import { Gateway } from '../../../src/server/gateway/gateway.ts';
import { Invitations } from '../../../src/server/gateway/invitations.ts';
import { SecretKey } from '../../../src/server/secret-key.ts';
import { createPool } from '../../../src/server/store/pool.ts';
import { type BackendCase, backends, type OpenBackend, onServer } from '../servers/backends.ts';

const silent = createLogger({ level: 'silent' });
/** As in the product, and quicker. */
export const GATEWAY_RETRY = { first: 20, most: 200, refused: 200 };

/** For tests that must hold on each road from an agent to its lanes. */
export function agentBackends(): BackendCase[] {
  return [...backends(), overGateway()];
}

export function overGateway(): BackendCase {
  return {
    name: 'the gateway',
    kind: 'postgres',
    embedded: false,
    first: false,
    async open() {
      const backend = await onServer().open({ migrated: true });
      const gateway = await TestGateway.start(backend.database);
      const close = async () => {
        await gateway.stop();
        await backend.close();
      };
      return { ...backend, gateway, close };
    },
  };
}

/** As the product's, or with the agents' side over the backend's gateway. */
export async function openQueuesOf(
  backend: Partial<OpenBackend> & Omit<QueuesOptions, 'logger'>,
  options: QueuesOptions,
): Promise<Queues> {
  const { gateway, database } = backend;
  if (gateway === undefined || database === undefined) return await openQueues({ ...backend, ...options });
  const errors = new ErrorLogger(options.logger);
  const store = await openPostgres({ database, errors, startTimeoutMs: 10_000, signal: undefined });
  gateway.logger.to = options.logger;
  const agents = new Fleet(gateway, options.logger, errors);
  const close = async () => {
    await agents.close();
    await store.close();
  };
  const lanes = {
    ...{ leases: { ...store.leases, ...agents.leases } },
    publish: agents.publish.bind(agents),
    turnsOf: agents.turnsOf.bind(agents),
    listen: agents.listen.bind(agents),
    ...{ answers: () => true, ping: () => store.ping(), close },
  };
  return new Queues({ ...store, ...lanes }, options, errors);
}

/** A gateway of the product on a port of its own, and nothing else of the service. */
export class TestGateway {
  readonly origin: string;
  /** Where it logs. */
  readonly logger: { to: QueueLogger };
  readonly enrolments: Enrolments;
  readonly #stack: AsyncDisposableStack;
  readonly database: ReturnType<typeof createPool>;
  readonly #queues = new Map<string, AgentQueue>();
  readonly #keys = new Map<string, KeyPairKeyObjectResult>();

  private constructor(
    origin: string,
    parts: {
      enrolments: Enrolments;
      pool: ReturnType<typeof createPool>;
      logger: { to: QueueLogger };
      stack: AsyncDisposableStack;
    },
  ) {
    this.origin = origin;
    this.logger = parts.logger;
    this.enrolments = parts.enrolments;
    this.database = parts.pool;
    this.#stack = parts.stack;
  }

  /** @param most agents that may be joined at a time */
  static async start(database: PoolConfig, { most = 1_000 } = {}): Promise<TestGateway> {
    const logger: TestGateway['logger'] = { to: silent };
    await using stack = new AsyncDisposableStack();
    const pool = createPool({ database, max: 4, logger: silent });
    stack.defer(() => pool.end());
    const queues = await openQueues({ database, logger: silent });
    stack.defer(() => queues.close({ timeoutMs: 0 }));
    const enrolments = new Enrolments(pool);
    const gateway = new Gateway({
      ...{ enrolments, lanes: queues.lanes, most, logger: forwarding(logger) },
      states: new AgentStates(new SecretKey('a key for tests, of 32 characters')),
      printers: { of: async () => EVERY_PRINTER, bring: async () => EVERY_PRINTER },
      feed: { tell: () => undefined },
    });
    const server = createServer();
    server.on('upgrade', (request, socket, head) =>
      gateway.upgrade({ request, socket, head, network: '127.0.0.1' }),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    stack.defer(async () => {
      await gateway.stop();
      server.close();
    });
    const { port } = z
      .custom<AddressInfo>((at) => typeof at === 'object' && at !== null)
      .parse(server.address());
    return new TestGateway(`http://127.0.0.1:${port}`, { enrolments, pool, logger, stack: stack.move() });
  }

  async stop(): Promise<void> {
    await this.#stack.disposeAsync();
  }

  /**
   * Lets an agent join, as one that has enrolled; the same agent with the same key each time.
   * @param origin where it reaches the gateway
   */
  async enroll(agentId: string, scope: Scope, origin = this.origin): Promise<JoiningAgent> {
    if (scope !== null) {
      await this.database.query(
        'INSERT INTO platen.tenants (id, name) VALUES ($1, $1) ON CONFLICT DO NOTHING',
        [scope],
      );
    }
    const made = await new Invitations(this.database).invite({
      ...{ name: agentId, printers: 'any' },
      ...(scope !== null && { tenant: scope }),
    });
    const code = plainCode(made.code) ?? '';
    const keys = this.#keys.get(agentId) ?? generateKeyPairSync('ed25519');
    this.#keys.set(agentId, keys);
    const { publicKey, privateKey } = keys;
    const { x = '' } = publicKey.export({ format: 'jwk' });
    const asked = { code, agentId, publicKey: x, origin };
    const signature = sign(null, signedToEnroll(asked), privateKey).toString('base64url');
    await this.enrolments.enroll({ ...asked, signature }, async () => undefined);
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    return { origin, agentId, scope, privateKey: pem, version: '0' };
  }

  /** The lanes of one agent, as it has them itself. Its process before, which used others, is over. */
  async queueOf(agentId: string, scope: Scope, origin?: string): Promise<AgentQueue> {
    const enrolment = await this.enroll(agentId, scope, origin);
    await this.#queues.get(agentId)?.close({ timeoutMs: 0 });
    const queue = await openGateway({ agent: enrolment, logger: silent, retry: GATEWAY_RETRY });
    this.#queues.set(agentId, queue);
    return queue;
  }
}

function forwarding(logger: { to: QueueLogger }): QueueLogger {
  return {
    info: (...line) => logger.to.info(...line),
    warn: (...line) => logger.to.warn(...line),
    error: (...line) => logger.to.error(...line),
  };
}

/** As if a person had approved whatever an agent asks for: these tests are about the lanes. */
const EVERY_PRINTER = new (class extends Map<string, BroughtState> {
  override get(): BroughtState {
    return 'approved';
  }
  override has(): boolean {
    return true;
  }
})();

/** As many agents as there are names in what is asked, each over a connection of its own. */
class Fleet implements Pick<AgentLanes, 'leases' | 'publish' | 'turnsOf' | 'listen' | 'close'> {
  readonly #gateway: TestGateway;
  readonly #logger: QueueLogger;
  readonly #errors: ErrorLogger;
  readonly #agents = new Map<string, Promise<GatewayLanes>>();
  /** Who has asked under a term. */
  readonly #terms = new Map<string, Promise<GatewayLanes>>();

  constructor(gateway: TestGateway, logger: QueueLogger, errors: ErrorLogger) {
    this.#gateway = gateway;
    this.#logger = logger;
    this.#errors = errors;
  }

  readonly leases: AgentLanes['leases'] = {
    ask: async (agentId, asks, length) => {
      const [first] = asks;
      const agent = this.#agent(agentId, first === undefined ? null : scopeOf(first.lane));
      for (const { term } of asks) this.#terms.set(term, agent);
      return await (await agent).leases.ask(agentId, asks, length);
    },
    giveBack: async (agentId, lane, term) =>
      await (await this.#agent(agentId, scopeOf(lane))).leases.giveBack(agentId, lane, term),
  };

  async publish(...[report, scope]: Parameters<AgentLanes['publish']>): ReturnType<AgentLanes['publish']> {
    return await (await this.#agent(report.agentId, scope)).publish(report);
  }

  turnsOf(...[lane, over]: Parameters<AgentLanes['turnsOf']>): ReturnType<AgentLanes['turnsOf']> {
    const of = async ({ term }: { term: string }) =>
      (await this.#ofTerm(term, scopeOf(lane))).turnsOf(lane, over);
    return {
      ended: async (hand) => await (await of(hand)).ended(hand),
      handedBack: async (hand) => await (await of(hand)).handedBack(hand),
      note: async (hand, order, note) => await (await of(hand)).note(hand, order, note),
      take: async (ask) => await (await of(ask)).take(ask),
      forget: (which, term) => void of({ term }).then((turns) => turns.forget(which, term)),
    };
  }

  listen(...[lane, ring]: Parameters<AgentLanes['listen']>): ReturnType<AgentLanes['listen']> {
    let stop: (() => void) | undefined;
    let over = false;
    void this.#agent('agent-that-listens', scopeOf(lane)).then((agent) => {
      if (over) return;
      stop = agent.listen(lane, ring);
      ring('');
    });
    return () => {
      over = true;
      stop?.();
    };
  }

  async close(): Promise<void> {
    for (const agent of this.#agents.values()) await (await agent).close();
  }

  #ofTerm(term: string, scope: Scope): Promise<GatewayLanes> {
    return this.#terms.get(term) ?? this.#agent('agent-without-lease', scope);
  }

  #agent(agentId: string, scope: Scope): Promise<GatewayLanes> {
    const known = this.#agents.get(agentId) ?? this.#join(agentId, scope);
    this.#agents.set(agentId, known);
    return known;
  }

  async #join(agentId: string, scope: Scope): Promise<GatewayLanes> {
    const enrolment = await this.#gateway.enroll(agentId, scope);
    const lanes = new GatewayLanes({
      agent: enrolment,
      logger: this.#logger,
      errors: this.#errors,
      retry: GATEWAY_RETRY,
    });
    while (!lanes.answers()) await wait(5);
    return lanes;
  }
}
