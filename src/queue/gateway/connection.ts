/** The one connection of an agent at another site to its service. Whenever it is cut, the agent joins again. */
import { createPrivateKey, createPublicKey, randomBytes, randomUUID, sign } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { WebSocket } from 'ws';
import {
  type AgentFrame,
  FRAME_BYTES,
  GATEWAY_PATH,
  goodbyeWords,
  PROTOCOL,
  readFrame,
  type ServiceFrame,
  serviceFrame,
  signedToJoin,
} from '../../contract/gateway.ts';
import type { Scope } from '../../contract/lane.ts';
import { QueueError, reasonOf } from '../queue-error.ts';
import type { ErrorLogger, QueueLogger } from '../queue-log.ts';
import { whyNotReached } from './not-reached.ts';
import { type WebAgentOptions, webAgent } from './web-agent.ts';

/** An agent that has enrolled, with what it joins its service by. */
export interface JoiningAgent extends WebAgentOptions {
  /** The service's address without a path: `https://platen.example`. */
  origin: string;
  agentId: string;
  scope: Scope;
  /** Ed25519, PKCS #8 in PEM. */
  privateKey: string;
  version: string;
  /**
   * What the service has given the agent to keep; undefined: the agent keeps nothing, and the service cannot tell it from a
   * copy.
   */
  kept?:
    | {
        readonly state: string | undefined;
        /**
         * Resolves when the state is safe: even after a crash the agent will show it the next time that it joins.
         * @param journalLost what the agent's journal said until now no longer counts
         */
        keep(state: string, journalLost: boolean): Promise<void>;
      }
    | undefined;
}

export interface RetryLimits {
  /**
   * Longest waits before the next attempt, ms: after a lost connection (doubled with each failure), after many failures, and
   * after the service has refused the agent.
   */
  first: number;
  most: number;
  refused: number;
  /** ms that an answer may still take when the service has answered a ping that was sent after the question. */
  answer: number;
  /** After so many ms the agent says again which lanes it listens to, because the service does not confirm that. */
  again: number;
}
export const RETRY: RetryLimits = {
  ...{ first: 1_000, most: 60_000, refused: 600_000 },
  ...{ answer: 15_000, again: 60_000 },
};

/** After so many ms without a word from the service the agent sends a ping (`asked`), and gives the connection up (`most`). */
const SILENCE = { asked: 5_000, most: 10_000 };
/** How long the service may take to let the agent join, ms. */
const JOIN = 20_000;

interface ConnectionHandler {
  joined(): void;
  said(frame: ServiceFrame): void;
  /** When (`performance.now`) the oldest question without an answer was sent; undefined: there is none. */
  waitsSince(): number | undefined;
  /** The agent belongs to another tenant now, and no longer joins for this one. */
  moved(to: Scope): void;
  /** The connection is gone. @param revoked the service has said that the agent is revoked */
  lost(revoked: boolean): void;
}

export class GatewayConnection {
  readonly #agent: JoiningAgent;
  readonly #retry: RetryLimits;
  readonly #logger: QueueLogger;
  readonly #errors: ErrorLogger;
  readonly #listener: ConnectionHandler;
  readonly #process = randomUUID();
  readonly #closed = new AbortController();
  readonly #running: Promise<void>;
  #socket: WebSocket | undefined;
  #isJoined = false;
  /** Why the last connection ended, or could not be made. */
  #reason: string | undefined;

  constructor(
    agent: JoiningAgent,
    parts: { logger: QueueLogger; errors: ErrorLogger; retry: RetryLimits; listener: ConnectionHandler },
  ) {
    this.#agent = agent;
    this.#retry = parts.retry;
    this.#logger = parts.logger;
    this.#errors = parts.errors;
    this.#listener = parts.listener;
    this.#running = this.#run();
  }

  get joined(): boolean {
    return this.#isJoined;
  }

  /** What a call rejects with while there is no connection. */
  gone(): QueueError {
    const why = this.#reason === undefined ? '' : `: ${this.#reason}`;
    return new QueueError('unavailable', `not connected to the service${why}`);
  }

  /** False: there is no connection, so nothing was sent. */
  send(frame: AgentFrame): boolean {
    if (!this.#isJoined || this.#socket === undefined) return false;
    this.#socket.send(JSON.stringify(frame), () => undefined);
    return true;
  }

  async close(): Promise<void> {
    this.#closed.abort();
    this.#socket?.close(1_000);
    await Promise.race([this.#running, wait(1_000, undefined, { ref: false })]);
    this.#socket?.terminate();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closed;
    let failures = 0;
    while (!signal.aborted) {
      const { joined, bye, reason } = await this.#connect();
      if (signal.aborted) return;
      failures = joined ? 0 : failures + 1;
      const refused = bye !== undefined && bye.code !== 'restart';
      const words = bye === undefined ? reason : goodbyeWords(bye.code);
      this.#reason = words;
      this.#errors.report('not connected to the service', new Error(words), { origin: this.#agent.origin });
      const most = refused
        ? this.#retry.refused
        : Math.min(this.#retry.most, this.#retry.first * 2 ** Math.min(failures, 10));
      const ms = bye?.retryAfterMs ?? Math.max(most / 10, Math.random() * most);
      await wait(ms, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Resolves when the connection is over. */
  async #connect(): Promise<{ joined: boolean; bye?: ByeFrame | undefined; reason: string }> {
    const { origin } = this.#agent;
    const url = new URL(GATEWAY_PATH, origin.replace(/^http/, 'ws'));
    const socket = new WebSocket(url, PROTOCOL, {
      agent: webAgent(origin, this.#agent),
      perMessageDeflate: false,
      maxPayload: FRAME_BYTES.service,
      handshakeTimeout: JOIN,
    });
    this.#socket = socket;
    const over = Promise.withResolvers<string>();
    let bye: ByeFrame | undefined;
    let joined = false;
    let heardAt = performance.now();
    const heard = () => {
      heardAt = performance.now();
    };
    const openedAt = performance.now();
    const { answer } = this.#retry;
    const behind = new Behind(answer);
    const looking = setInterval(() => {
      const now = performance.now();
      if (!joined && now - openedAt > JOIN) socket.terminate();
      if (!joined) return;
      if (now - heardAt > SILENCE.most) socket.terminate();
      else if (now - heardAt > SILENCE.asked) socket.ping();
      // If a question or its answer was lost, the agent has to ask again over another connection.
      const since = this.#listener.waitsSince();
      if (since === undefined) return;
      if (behind.isLost(since, now)) over.resolve('what it was asked has no answer');
      else if (behind.isDue(now)) socket.ping(behind.sent(now));
    }, Math.min(SILENCE.asked, answer) / 4);
    const nonce = randomBytes(16).toString('base64url');
    const state = this.#agent.kept?.state;
    socket.on('open', () => {
      const { agentId: agent, version } = this.#agent;
      const own = state !== undefined && { state, publicKey: publicKeyOf(this.#agent.privateKey) };
      socket.send(JSON.stringify({ kind: 'hello', agent, process: this.#process, nonce, version, ...own }));
    });
    // A large frame over a slow line takes longer than a silence may last, so each piece of the frame counts as a sign of life.
    socket.once('upgrade', ({ socket: raw }) => raw.on('data', heard));
    socket.on('pong', (data: Buffer) => {
      heard();
      behind.back(data);
    });
    socket.on('ping', heard);
    socket.on('error', (error) => over.resolve(whyNotReached(error)));
    socket.on('close', () => over.resolve('the connection was closed'));
    socket.on('message', (data: Buffer) => {
      heard();
      const frame = readFrame(serviceFrame, data);
      if (frame?.kind === 'bye') {
        bye = frame;
        // Does not wait until the service closes the connection: the line may be cut before.
        over.resolve(goodbyeWords(frame.code));
      } else if (joined && frame !== undefined) this.#listener.said(frame);
      else if (frame?.kind === 'challenge') this.#prove(socket, { nonce, challenge: frame.nonce, state });
      else if (frame?.kind === 'welcome') {
        if (frame.scope !== this.#agent.scope) {
          this.#listener.moved(frame.scope);
          over.resolve('the service has this agent for another tenant');
          return;
        }
        const begin = () => {
          if (this.#socket !== socket || socket.readyState !== socket.OPEN) return;
          joined = true;
          this.#isJoined = true;
          this.#logger.info({ origin, name: frame.name }, 'joined the service');
          this.#listener.joined();
        };
        const { kept } = this.#agent;
        if (frame.state === undefined || kept === undefined) begin();
        else {
          kept.keep(frame.state, frame.journalLost === true).then(
            () => {
              begin();
              this.send({ kind: 'stored' });
            },
            (error: unknown) => over.resolve(`its state cannot be kept: ${reasonOf(error)}`),
          );
        }
      }
    });
    const reason = await over.promise;
    clearInterval(looking);
    socket.terminate();
    if (joined || bye?.code === 'revoked') {
      this.#isJoined = false;
      this.#listener.lost(bye?.code === 'revoked');
    }
    return { joined, bye, reason };
  }

  #prove(socket: WebSocket, said: { nonce: string; challenge: string; state: string | undefined }): void {
    const { agentId: agent, origin, privateKey } = this.#agent;
    const text = signedToJoin({ origin, agent, process: this.#process, ...said });
    const signature = sign(null, text, createPrivateKey(privateKey)).toString('base64url');
    socket.send(JSON.stringify({ kind: 'proof', signature }));
  }
}

function publicKeyOf(privateKey: string): string | undefined {
  return createPublicKey(privateKey).export({ format: 'jwk' }).x;
}

type ByeFrame = Extract<ServiceFrame, { kind: 'bye' }>;

/** Pings that are sent after questions. When one is answered, no earlier question is still on its way. */
class Behind {
  readonly #answer: number;
  #ping = Buffer.of();
  #sentAt = Number.NEGATIVE_INFINITY;
  #backAt: number | undefined;

  /** @param answer ms that an answer may take when the ping has been answered */
  constructor(answer: number) {
    this.#answer = answer;
  }

  isDue(now: number): boolean {
    return now - this.#sentAt > 2 * this.#answer;
  }

  /** @returns what the ping has to carry */
  sent(now: number): Buffer {
    this.#sentAt = now;
    this.#backAt = undefined;
    this.#ping = Buffer.from(String(now));
    return this.#ping;
  }

  back(data: Buffer): void {
    if (data.length > 0 && data.equals(this.#ping)) this.#backAt = performance.now();
  }

  /** @param since when the oldest question without an answer was sent */
  isLost(since: number, now: number): boolean {
    return this.#backAt !== undefined && since < this.#sentAt && now - this.#backAt > this.#answer;
  }
}
