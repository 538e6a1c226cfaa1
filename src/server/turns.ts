/**
 * Who is served next when many come at once. Node accepts one connection in each round of its loop, and works in the
 * same round on all that has come in: hundreds of connections or requests at once would keep everybody else waiting
 * until all of them have begun, a probe of the service's health included. So
 *
 * - in a round one connection is read for the first time, and one request begins;
 * - none while connections still come in, unless somebody has waited long enough;
 * - turns go round by address: whoever comes a thousand times waits for himself.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from './network.ts';

/** ms after which a turn no longer lets new connections go first. */
const PATIENCE = 50;

type Turn = { begin: () => void; since: number };

/** Those who wait, by network; whose turn it is comes first. */
class Rotation {
  readonly #waiting = new Map<string, Turn[]>();

  get empty(): boolean {
    return this.#waiting.size === 0;
  }

  add(address: string, begin: () => void): void {
    const network = networkOf(address);
    const turn = { begin, since: performance.now() };
    const others = this.#waiting.get(network);
    if (others === undefined) this.#waiting.set(network, [turn]);
    else others.push(turn);
  }

  /** @param cameIn connections did, in the round before */
  begin(cameIn: boolean): void {
    const [first] = this.#waiting;
    if (first === undefined) return;
    const [network, turns] = first;
    const [turn] = turns;
    if (turn === undefined || (cameIn && performance.now() - turn.since < PATIENCE)) return;
    turns.shift();
    this.#waiting.delete(network);
    if (turns.length > 0) this.#waiting.set(network, turns);
    turn.begin();
  }
}

export class Turns {
  readonly #connections = new Rotation();
  readonly #requests = new Rotation();
  #cameIn = false;
  #round: NodeJS.Immediate | undefined;

  /** Takes the server's connections over from Node, which gets each in its turn. */
  constructor(server: Server) {
    const serve = server.listeners('connection');
    server.removeAllListeners('connection');
    // Of net.Server: a connection is not read before `resume`.
    Object.assign(server, { pauseOnConnect: true });
    server.on('connection', (socket: Socket) => {
      this.#cameIn = true;
      this.#connections.add(socket.remoteAddress ?? '', () => {
        // A service that stops has closed those that Node knows of.
        if (!server.listening) socket.destroy();
        if (socket.destroyed) return;
        for (const listener of serve) Reflect.apply(listener, server, [socket]);
        socket.resume();
      });
      this.#next();
    });
  }

  /** Resolves when a request from this address may begin. */
  async take(address: string): Promise<void> {
    const alone = this.#round === undefined;
    this.#next();
    // It is the one of this round.
    if (alone) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#requests.add(address, resolve);
    await promise;
  }

  /** Looks again in the next round; one in which nobody waits is the last. */
  #next(): void {
    this.#round ??= setImmediate(() => {
      this.#round = undefined;
      const cameIn = this.#cameIn;
      this.#cameIn = false;
      if (this.#connections.empty && this.#requests.empty) return;
      this.#next();
      this.#connections.begin(cameIn);
      this.#requests.begin(cameIn);
    });
  }
}
