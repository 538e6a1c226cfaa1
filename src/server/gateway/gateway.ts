/**
 * Lets agents at other sites join over a WebSocket on the service's own port.
 *
 *   upgrade ──▶ hello ──▶ challenge ──▶ proof ──▶ welcome: a session (`joined-agent.ts`)
 *
 * A session holds nothing that lasts. In its next session, at this instance or another, the agent goes on where it was.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { type WebSocket, WebSocketServer } from 'ws';
import {
  FRAME_BYTES,
  GATEWAY_PATH,
  GOODBYES,
  type Goodbye,
  type Hello,
  PROTOCOL,
  readFrame,
  type ServiceFrame,
  signedToJoin,
  unprovenFrame,
} from '../../contract/gateway.ts';
import { type AgentLanes, ErrorLogger, type QueueLogger, reportParser } from '../../queue/index.ts';
import type { ChangeFeed } from '../events/change-feed.ts';
import type { ToldAgent } from '../printers/added-printers.ts';
import type { AgentStates } from './agent-states.ts';
import type { BroughtPrinters } from './brought-printers.ts';
import { isSignedBy } from './device-key.ts';
import type { EnrolledAgent, Enrolments } from './enrolments.ts';
import { Heartbeats } from './heartbeats.ts';
import { JoinedAgent } from './joined-agent.ts';
import { OwnPrinters } from './own-printers.ts';
import { ReportRate } from './report-rate.ts';
import { UNPROVEN, Unproven } from './unproven.ts';

/** What a stranger gets for whom there is no room. */
const NO_ROOM = 'HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\n\r\n';
/** How often the database is asked whether the agents may go on, ms. */
const CONFIRM = 1_500;
/** In one of so many questions to the database, this instance also says which agents it has heard. */
const SAID = 4;
/** An agent that is not heard for so long is gone, ms. */
const SILENCE = 45_000;
/** How soon an agent that is refused may come again, ms. */
const RETRY = { taken: 10_000, stale: 30_000, revoked: undefined } as const;
/** How long an agent has to answer before another process of it takes its place, ms. */
const STILL_THERE = 3_000;
/**
 * When an agent moves to another tenant: how often, and for how long, ms, the service looks whether all its reports are
 * applied.
 */
const MOVE = { look: 250, most: 60_000 };
/** At a stop: how long the agents' goodbyes may take, ms. */
const GOODBYE = 1_000;

interface Parts {
  enrolments: Enrolments;
  printers: Pick<BroughtPrinters, 'of' | 'bring'>;
  lanes: AgentLanes;
  /** Undefined: the service has no key that lasts, and tells copies of an agent apart only while both are connected. */
  states?: AgentStates | undefined;
  /** Most agents that may be joined at a time. */
  most: number;
  /** Is told of agents of which pages show something else now. */
  feed: Pick<ChangeFeed, 'tell'>;
  logger: QueueLogger;
}

interface Upgrade {
  request: IncomingMessage;
  socket: Duplex;
  /** What came behind the request. */
  head: Buffer;
  /** The network of whoever connects, behind the proxies that are trusted. */
  network: string;
}

export class Gateway {
  readonly #parts: Parts;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: FRAME_BYTES.agent,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has(PROTOCOL) ? PROTOCOL : false),
  });
  readonly #unproven = new Unproven();
  readonly #joined = new Map<string, JoinedAgent>();
  readonly #confirming: NodeJS.Timeout;
  readonly #parse: ReturnType<typeof reportParser>;
  readonly #heartbeats = new Heartbeats();
  readonly #reportRate = new ReportRate();
  readonly #errors: ErrorLogger;
  readonly #leaving = new Set<Promise<void>>();
  readonly #moving = new WeakSet<JoinedAgent>();
  #rounds = 0;
  #asking = false;
  #closed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#parse = reportParser(parts.logger);
    this.#errors = new ErrorLogger(parts.logger);
    this.#confirming = setInterval(() => void this.#confirm(), CONFIRM).unref();
  }

  /** The agents that are connected to this instance. */
  get agents(): ToldAgent[] {
    return [...this.#joined.values()].map((agent) => ({
      id: agent.agentId,
      drive: (printers) => agent.drive(printers),
    }));
  }

  /** Whether a request that wants to upgrade is for here. */
  takes({ url }: IncomingMessage): boolean {
    return url === GATEWAY_PATH;
  }

  upgrade({ request, socket, head, network }: Upgrade): void {
    socket.on('error', () => socket.destroy());
    if (this.#closed) {
      socket.destroy();
      return;
    }
    // Before the upgrade, which is most of what a stranger costs.
    if (!this.#unproven.hasRoom(network, performance.now())) {
      socket.end(NO_ROOM, () => socket.destroy());
      return;
    }
    this.#sockets.handleUpgrade(request, socket, head, (opened) => {
      opened.on('error', () => opened.terminate());
      this.#meet(opened, socket, network);
    });
  }

  /** The agent has been revoked: it goes at once here, and from other instances as soon as they ask. */
  revoked(agentId: string): void {
    this.#joined.get(agentId)?.bye('revoked');
  }

  async stop(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#confirming);
    const open = [...this.#sockets.clients];
    const left = open.map((socket) => new Promise((resolve) => socket.once('close', resolve)));
    for (const agent of this.#joined.values()) agent.bye('restart', Math.round(Math.random() * 1_000));
    // Those that are left are strangers.
    for (const socket of open) socket.close(1_001);
    await Promise.race([Promise.all(left), wait(GOODBYE, undefined, { ref: false })]);
    for (const socket of open) socket.terminate();
    await Promise.all(this.#leaving);
    this.#sockets.close();
  }

  /** Has a stranger prove who it is. */
  #meet(socket: WebSocket, raw: Duplex, network: string): void {
    const leave = this.#unproven.add(socket, network, performance.now());
    const proven = new AbortController();
    const late = setTimeout(() => socket.terminate(), UNPROVEN.ms);
    let bytes = 0;
    const count = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > FRAME_BYTES.unproven) socket.terminate();
    };
    raw.on('data', count);
    let hello: { said: Hello; challenge: string; agent: Promise<EnrolledAgent | undefined> } | undefined;
    let agent: JoinedAgent | undefined;
    socket.on('close', () => {
      clearTimeout(late);
      leave();
    });
    const prove = async (signature: string) => {
      if (hello === undefined || proven.signal.aborted) return goodbye(socket, 'frame-wrong');
      const { said, challenge } = hello;
      proven.abort();
      raw.off('data', count);
      socket.pause();
      const known = await hello.agent;
      if (known === undefined) await this.#meetUnknown(socket, said, challenge, signature);
      else agent = await this.#meetKnown(socket, said, challenge, signature, known);
      socket.resume();
      // Who is refused is a stranger as long as the connection stays.
      if (agent === undefined) return;
      clearTimeout(late);
      leave();
    };
    socket.on('message', (data: Buffer, isBinary) => {
      if (socket.readyState !== socket.OPEN) return;
      if (agent !== undefined) return isBinary ? agent.bye('frame-wrong') : agent.take(data);
      const frame = isBinary ? undefined : readFrame(unprovenFrame, data);
      if (frame === undefined || (frame.kind === 'hello') !== (hello === undefined)) {
        return goodbye(socket, 'frame-wrong');
      }
      if (frame.kind === 'hello') {
        const challenge = randomBytes(16).toString('base64url');
        const found = this.#parts.enrolments.find(frame.agent);
        found.catch(() => undefined);
        hello = { said: frame, challenge, agent: found };
        tell(socket, { kind: 'challenge', nonce: challenge });
        return;
      }
      prove(frame.signature).catch((error: unknown) => {
        this.#parts.logger.warn({ err: error }, 'an agent could not join');
        socket.terminate();
      });
    });
    if (socket.protocol !== PROTOCOL) goodbye(socket, 'too-old');
  }

  async #meetKnown(
    socket: WebSocket,
    said: Hello,
    challenge: string,
    signature: string,
    known: EnrolledAgent,
  ): Promise<JoinedAgent | undefined> {
    const text = signedToJoin({ ...said, challenge, origin: known.origin });
    if (!isSignedBy(known.publicKey, text, signature)) return goodbye(socket, 'proof-wrong');
    if (known.revoked) return await this.#refuse(socket, said.agent, 'revoked');
    return await this.#join(socket, said, known);
  }

  async #join(socket: WebSocket, said: Hello, known: EnrolledAgent): Promise<JoinedAgent | undefined> {
    const { lanes, logger, enrolments, printers, states, feed } = this.#parts;
    const changed = () => feed.tell({ agents: [said.agent] });
    const { agent: agentId, process } = said;
    const before = this.#joined.get(agentId);
    if (before === undefined && this.#joined.size >= this.#parts.most) {
      return await this.#refuse(socket, agentId, 'too-many', 10_000);
    }
    const session = randomUUID();
    const isOther = before !== undefined && before.process !== process;
    const gone = isOther && !(await before.answers(STILL_THERE)) ? before.process : undefined;
    const shown = states && (states.read(said.state, agentId, known.publicKey)?.seq ?? null);
    const joined = await enrolments.join({ id: agentId, process, session, shown }, gone);
    if (typeof joined === 'string') {
      logger.warn({ agent: agentId, reason: GOODBYES[joined] }, 'an agent is refused');
      return await this.#refuse(socket, agentId, joined, RETRY[joined]);
    }
    if (joined.ahead) logger.warn({ agent: agentId }, 'the agent is ahead: the database was restored');
    const { publicKey, origin } = known;
    const { seq, lost, scope, name, decided } = joined;
    const brought = await printers.of(agentId);
    const agent = new JoinedAgent({
      ...{ agentId, process, session, scope, name },
      stored: seq === undefined ? undefined : () => enrolments.stored(agentId, session, seq),
      printers: new OwnPrinters({ agentId, printers, brought, decided, onBrought: changed }),
      onMoved: (asked) => {
        // The agent need no longer move, or was not asked in this session yet. So it joins again, and goes on.
        if (!asked) return agent.bye('restart', 0);
        void this.#move(agent).catch((error: unknown) =>
          this.#errors.report('an agent was not moved', error, { agent: agentId }),
        );
      },
      socket,
      lanes,
      parse: this.#parse,
      heartbeats: this.#heartbeats,
      reportRate: this.#reportRate,
      errors: this.#errors,
    });
    // Only now: several connections may join at one moment, and each takes the place of the one before it.
    this.#joined.get(agentId)?.drop();
    this.#joined.set(agentId, agent);
    const left = () => {
      if (this.#joined.get(agentId) === agent) this.#joined.delete(agentId);
      const leaving = enrolments
        .left(agentId, session)
        .catch((error: unknown) => this.#errors.report('an agent is not known to have left', error))
        .finally(() => {
          this.#leaving.delete(leaving);
          changed();
        });
      this.#leaving.add(leaving);
    };
    socket.once('close', left);
    if (socket.readyState === socket.CLOSED) left();
    agent.send({
      ...{ kind: 'welcome', scope, name },
      ...(states &&
        seq !== undefined && { state: states.make({ agent: agentId, seq, scope, name, origin, publicKey }) }),
      ...(lost && { journalLost: true }),
    });
    changed();
    logger.info({ agent: said.agent, name }, 'agent joined');
    return agent;
  }

  /** Gives the agent to the other tenant as soon as all its reports are applied. Then it joins again, and is told whose it is. */
  async #move(agent: JoinedAgent): Promise<void> {
    const late = performance.now() + MOVE.most;
    const { agentId, session } = agent;
    if (this.#moving.has(agent)) return;
    this.#moving.add(agent);
    while (this.#joined.get(agentId) === agent && performance.now() < late) {
      if (await this.#parts.enrolments.moved(agentId, session)) break;
      await wait(MOVE.look, undefined, { ref: false });
    }
    agent.bye('restart', 0);
  }

  /** No agent has enrolled with this ID. If a back-up was restored, it may be one of this deployment's agents all the same. */
  async #meetUnknown(
    socket: WebSocket,
    said: Hello,
    challenge: string,
    signature: string,
  ): Promise<undefined> {
    const { enrolments, states } = this.#parts;
    const { agent, publicKey } = said;
    const state = publicKey && states?.read(said.state, agent, publicKey);
    if (!publicKey || !state) return goodbye(socket, 'unknown');
    const text = signedToJoin({ ...said, challenge, origin: state.origin });
    if (!isSignedBy(publicKey, text, signature)) return goodbye(socket, 'proof-wrong');
    await enrolments.adopt({ ...state, publicKey });
    this.#parts.feed.tell({ agents: [agent] });
    goodbye(socket, 'stale', RETRY.stale);
  }

  /** Ends the connection of an agent that has proved who it is, and keeps why, for people to see. */
  async #refuse(
    socket: WebSocket,
    agentId: string,
    code: Goodbye,
    retryAfterMs?: number,
  ): Promise<undefined> {
    goodbye(socket, code, retryAfterMs);
    if (await this.#parts.enrolments.refused(agentId, code)) this.#parts.feed.tell({ agents: [agentId] });
  }

  async #confirm(): Promise<void> {
    const now = performance.now();
    for (const agent of this.#joined.values()) if (now - agent.heardAt > SILENCE) agent.drop();
    if (this.#asking || this.#joined.size === 0) return;
    this.#asking = true;
    try {
      const asked = [...this.#joined.values()];
      this.#rounds += 1;
      const heard = this.#rounds % SAID === 0 ? asked.map(({ session }) => session) : [];
      const ids = asked.map(({ agentId }) => agentId);
      const standings = await this.#parts.enrolments.sessions(ids, heard);
      for (const agent of asked) {
        const standing = standings.get(agent.agentId);
        if (standing === undefined) agent.bye('revoked');
        // The agent has joined at another instance meanwhile.
        else if (standing.session !== agent.session) agent.drop();
        else await agent.confirm(now, standing);
      }
    } catch (error) {
      this.#parts.logger.warn({ err: error }, 'it is not known whether agents were revoked');
    } finally {
      this.#asking = false;
    }
  }
}

function tell(socket: WebSocket, frame: ServiceFrame): void {
  socket.send(JSON.stringify(frame), () => undefined);
}

function goodbye(socket: WebSocket, code: Goodbye, retryAfterMs?: number): undefined {
  tell(socket, { kind: 'bye', code, ...(retryAfterMs !== undefined && { retryAfterMs }) });
  socket.close(1_008, code);
}
