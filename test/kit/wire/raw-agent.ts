/** An agent at another site as anybody could write it: it says what it is told to, whether that is right or not. */
import { randomBytes, sign } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { type ClientOptions, WebSocket } from 'ws';
import { GATEWAY_PATH, PROTOCOL, signedToJoin } from '../../../src/contract/gateway.ts';
import type { JoiningAgent } from '../../../src/queue/index.ts';

type Frame = Record<string, unknown>;

export class RawAgent {
  readonly socket: WebSocket;
  readonly said: Frame[] = [];
  /** Its connection, for bytes that are no frames; undefined: there is none yet. */
  stream: Duplex | undefined;
  /** Rejects nothing: the code and the reason with which the connection was closed. */
  readonly closed: Promise<{ code: number; reason: string }>;
  #news = Promise.withResolvers<void>();

  constructor(origin: string, how: Pick<ClientOptions, 'headers'> = {}) {
    this.socket = new WebSocket(new URL(GATEWAY_PATH, origin.replace(/^http/, 'ws')), PROTOCOL, how);
    this.socket.once('upgrade', ({ socket }) => {
      this.stream = socket.on('error', () => undefined);
    });
    this.socket.on('message', (data: Buffer) => {
      this.said.push(JSON.parse(data.toString()));
      this.#tell();
    });
    this.closed = new Promise((resolve) => {
      this.socket.on('close', (code, reason) => {
        resolve({ code, reason: reason.toString() });
        this.#tell();
      });
    });
    this.socket.on('error', () => this.#tell());
  }

  /** @param as of the process, and what else is not as it should be */
  static async join(
    of: Pick<JoiningAgent, 'origin' | 'agentId' | 'privateKey'>,
    as: { process?: string; origin?: string; state?: string; publicKey?: string } = {},
  ): Promise<RawAgent> {
    const raw = new RawAgent(of.origin);
    const process = as.process ?? randomBytes(8).toString('hex');
    const nonce = randomBytes(16).toString('base64url');
    await new Promise((resolve, reject) => raw.socket.once('open', resolve).once('error', reject));
    const { state, publicKey } = as;
    raw.say({ kind: 'hello', agent: of.agentId, process, nonce, version: '1', state, publicKey });
    const { nonce: challenge } = await raw.next('challenge');
    const text = signedToJoin({
      origin: as.origin ?? of.origin,
      agent: of.agentId,
      process,
      nonce,
      challenge: String(challenge),
      state,
    });
    raw.say({ kind: 'proof', signature: sign(null, text, of.privateKey).toString('base64url') });
    return raw;
  }

  /** Pings now and then, as an agent does: the service ends a connection on which nothing comes for long. */
  pings(): void {
    const timer = setInterval(() => this.socket.ping(), 2_000);
    this.socket.once('close', () => clearInterval(timer));
  }

  say(frame: Frame | string): void {
    this.socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  /** The next frame of a kind; what came before it is dropped. @throws Error where the connection was closed before */
  async next(kind: string): Promise<Frame> {
    for (;;) {
      this.#news = Promise.withResolvers();
      const at = this.said.findIndex((frame) => frame['kind'] === kind);
      if (at >= 0) return this.said.splice(0, at + 1).at(-1) ?? {};
      if (this.socket.readyState === WebSocket.CLOSED) {
        throw new Error(`closed before "${kind}": ${JSON.stringify(this.said)}`);
      }
      await this.#news.promise;
    }
  }

  #tell(): void {
    this.#news.resolve();
  }
}
