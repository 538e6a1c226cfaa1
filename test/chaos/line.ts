/**
 * The line from an agent's site to the service's instances, behind where TLS ends: it lets each connection go to an instance
 * that answers, one after the other, and can be cut, fall silent one way, be slow, lose frames, and say them twice, late, or once
 * more in a later connection of the same process.
 */
import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import { GATEWAY_PATH, PROTOCOL } from '../../src/contract/gateway.ts';
import { listening, takesConnections } from '../kit/wire/listening.ts';

export const WAYS = ['to the service', 'to the agent'] as const;
export type Way = (typeof WAYS)[number];

/** A bad line: ms until something arrives, and bytes in a millisecond (1 Mbit/s). */
const SLOW = { ms: 300, bytesPerMs: 125 };
/** Frames of earlier connections that are kept. */
const KEPT = 20;

/** What tells frames apart: their kinds, and what entries are about. */
const frame = z.object({
  kind: z.string(),
  process: z.string().optional(),
  entries: z.array(z.object({ what: z.string() })).default([]),
});

/** At a frame of a kind: the line is cut before it arrives, or after; or the frame alone is lost. */
export interface Strike {
  way: Way;
  kind: string;
  how: 'before' | 'after' | 'lost';
}

/** What a strike may name, by way. */
export const KINDS: Record<Way, readonly string[]> = {
  'to the service': [
    ...['hello', 'proof', 'stored', 'listen', 'lease', 'giveBack'],
    ...['take', 'note', 'told', 'ended', 'back'],
  ],
  'to the agent': ['challenge', 'welcome', 'answers', 'leased', 'ring', 'bye'],
};

export class Line {
  readonly name: string;
  readonly #ports: readonly number[];
  readonly #open = new Set<Call>();
  readonly #http = createServer((request, response) => void this.#pass(request, response));
  readonly #sockets = new WebSocketServer({
    ...{ noServer: true, autoPong: false, perMessageDeflate: false },
    handleProtocols: () => PROTOCOL,
  });
  readonly #down = new Set<Duplex>();
  #next = 0;
  #cut = false;
  #strike: Strike | undefined;
  readonly silent: Record<Way, boolean> = { 'to the service': false, 'to the agent': false };
  slow = false;
  /** How many of 100 frames are said twice, late, and lost; how late the second or a late one is, ms at most; undefined: none. */
  troubled: { twice: number; late: number; lost: number; most: number } | undefined;
  /** The agent's frames, by its process. */
  readonly #earlier = new Map<string, string[]>();
  url = '';

  /** @param ports of the instances, on this machine */
  constructor(name: string, ports: readonly number[]) {
    this.name = name;
    this.#ports = ports;
  }

  async start(): Promise<void> {
    this.#http.on('connection', (socket) => {
      if (this.#cut) socket.destroy();
      this.#down.add(socket);
      socket.on('close', () => this.#down.delete(socket));
    });
    this.#http.on('upgrade', (request, socket, head) => {
      socket.on('error', () => socket.destroy());
      this.#sockets.handleUpgrade(request, socket, head, (agent) => void this.#call(agent));
    });
    this.url = `http://127.0.0.1:${await listening(this.#http)}`;
  }

  stop(): void {
    this.cut(true);
    this.#http.close();
  }

  /** Cuts all connections, and takes none until it is whole again. */
  cut(isCut: boolean): void {
    this.#cut = isCut;
    if (!isCut) return;
    for (const call of this.#open) call.cut();
    for (const socket of this.#down) socket.destroy();
  }

  /** At the next frame of its kind. Undefined: not any more. */
  strikeAt(strike: Strike | undefined): void {
    this.#strike = strike;
  }

  get strikesLater(): boolean {
    return this.#strike !== undefined;
  }

  /** Says a frame of an earlier connection of each agent's process once more. @param pick which of them */
  sayAgain(pick: <T>(all: readonly T[]) => T): void {
    for (const call of this.#open) {
      const said = this.#earlier.get(call.process ?? '') ?? [];
      if (said.length > 0) call.say(pick(said));
    }
  }

  mend(): void {
    this.#cut = false;
    this.#strike = undefined;
    this.troubled = undefined;
    this.slow = false;
    for (const way of WAYS) this.silent[way] = false;
    for (const call of this.#open) call.flush();
  }

  /** Lets what a silent line has held arrive. */
  flush(): void {
    for (const call of this.#open) call.flush();
  }

  /** What is to happen at this text. */
  struck(way: Way, kinds: readonly string[]): Strike['how'] | undefined {
    const at = this.#strike;
    if (at?.way !== way || !kinds.includes(at.kind)) return undefined;
    this.#strike = undefined;
    return at.how;
  }

  async #call(agent: WebSocket): Promise<void> {
    agent.on('error', () => undefined);
    agent.pause();
    const first = this.#port();
    const port = (await takesConnections(first)) ? first : this.#port();
    agent.resume();
    if (this.#cut) return agent.terminate();
    const call = new Call(this, agent, `ws://127.0.0.1:${port}${GATEWAY_PATH}`, () => {
      this.#open.delete(call);
      if (call.process !== undefined) this.#earlier.set(call.process, call.said.slice(-KEPT));
    });
    this.#open.add(call);
  }

  #port(): number {
    this.#next += 1;
    return this.#ports[this.#next % this.#ports.length] ?? 0;
  }

  /** As a load balancer does: what an instance did not take goes to another one. */
  async #pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    incoming.on('error', () => undefined);
    const body = await Array.fromAsync(incoming).catch(() => undefined);
    for (let tries = 0; body !== undefined && tries < this.#ports.length; tries++) {
      const { method, url, headers } = incoming;
      const request = httpRequest({
        ...{ host: '127.0.0.1', port: this.#port(), method, path: url, headers, agent: false },
      });
      request.end(Buffer.concat(body));
      const answer = await once(request, 'response').then(
        ([response]: IncomingMessage[]) => response,
        (error: Error & { code?: string }) => error,
      );
      if (answer instanceof Error || answer === undefined) {
        if (answer !== undefined && 'code' in answer && answer.code === 'ECONNREFUSED') continue;
        break;
      }
      answer.on('error', () => outgoing.destroy());
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
      return;
    }
    outgoing.destroy();
  }
}

/** One connection of an agent, with the one behind it. */
class Call {
  readonly #line: Line;
  readonly #agent: WebSocket;
  readonly #service: WebSocket;
  readonly #queues: Record<Way, { at: number; run: () => void }[]> = {
    'to the service': [],
    'to the agent': [],
  };
  readonly #gone: () => void;
  #over = false;
  /** The agent's, once it has said hello. */
  process: string | undefined;
  /** What it has said since it joined. */
  readonly said: string[] = [];

  constructor(line: Line, agent: WebSocket, url: string, gone: () => void) {
    this.#line = line;
    this.#agent = agent;
    this.#gone = gone;
    this.#service = new WebSocket(url, PROTOCOL, { autoPong: false, perMessageDeflate: false });
    this.#service.on('open', () => this.flush());
    this.#join('to the service', agent, this.#service);
    this.#join('to the agent', this.#service, agent);
  }

  cut(): void {
    if (this.#over) return;
    this.#over = true;
    this.#agent.terminate();
    this.#service.terminate();
    this.#gone();
  }

  /** Something that the agent has not said now. */
  say(text: string): void {
    this.#put('to the service', text.length, () => this.#service.send(text, () => undefined));
  }

  flush(): void {
    for (const way of WAYS) this.#flush(way);
  }

  #join(way: Way, from: WebSocket, to: WebSocket): void {
    const put = (bytes: number, run: () => void) => this.#put(way, bytes, run);
    from.on('error', () => undefined);
    // A connection that ends tells the other side once the line is not silent, and ends there, too.
    from.on('close', () => put(0, () => this.cut()));
    from.on('ping', (data) => put(data.length, () => to.ping(data, undefined, () => undefined)));
    from.on('pong', (data) => put(data.length, () => to.pong(data, undefined, () => undefined)));
    from.on('message', (data: Buffer) => this.#message(way, data.toString(), to));
  }

  #message(way: Way, text: string, to: WebSocket): void {
    const read = frame.safeParse(JSON.parse(text)).data;
    if (read?.process !== undefined) this.process = read.process;
    const kinds = read === undefined ? [] : [read.kind, ...read.entries.map(({ what }) => what)];
    if (way === 'to the service' && read?.kind !== 'hello' && read?.kind !== 'proof') {
      this.said.push(text);
      if (this.said.length > KEPT) this.said.shift();
    }
    const struck = this.#line.struck(way, kinds);
    const send = () => to.send(text, () => (struck === 'after' ? this.cut() : undefined));
    const put = () => this.#put(way, text.length, send);
    const { twice, late, lost, most } = this.#line.troubled ?? { twice: 0, late: 0, lost: 0, most: 0 };
    const chance = Math.random() * 100;
    const isLost = struck === 'lost' || (struck === undefined && chance < lost);
    const isLate = struck === undefined && !isLost && chance < lost + late;
    if (struck === 'before') this.cut();
    else if (!isLate && !isLost) put();
    if (isLate || (!isLost && chance >= 100 - twice)) setTimeout(put, Math.random() * most);
  }

  #put(way: Way, bytes: number, run: () => void): void {
    const queue = this.#queues[way];
    const now = performance.now();
    const { slow } = this.#line;
    const before = queue.at(-1)?.at ?? 0;
    const at = slow ? Math.max(before, now + SLOW.ms) + bytes / SLOW.bytesPerMs : Math.max(before, now);
    queue.push({ at, run });
    this.#flush(way);
  }

  #flush(way: Way): void {
    const queue = this.#queues[way];
    const isOpen = way === 'to the agent' || this.#service.readyState !== WebSocket.CONNECTING;
    if (this.#over || this.#line.silent[way] || !isOpen) return;
    const now = performance.now();
    while (!this.#over && queue[0] !== undefined && queue[0].at <= now) queue.shift()?.run();
    const [next] = queue;
    if (next !== undefined && !this.#over) setTimeout(() => this.#flush(way), next.at - now + 1);
  }
}
