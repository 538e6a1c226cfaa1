/**
 * Decides which connection or request is served next when many come at once. Node accepts one connection in
 * each round of its loop, and works in the same round on all that has come in: hundreds of connections or
 * requests at once would keep everybody else waiting until all of them have begun, a probe of the service's
 * health included. So
 *
 * - in each round one connection is read for the first time, and one request begins;
 * - nothing begins in a round while connections still come in, unless it has waited for 50 ms (`PATIENCE`);
 * - networks take it in turn: a caller who comes a thousand times delays only himself.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from './network.ts';

/** ms after which a waiting connection or request no longer lets new connections go first. */
const PATIENCE = 50;

type Waiting = { begin: () => void; isGone: () => boolean; since: number };

/** Who waits, by network; the network that is next comes first. */
class Rotation {
  readonly #waiting = new Map<string, Waiting[]>();

  get empty(): boolean {
    return this.#waiting.size === 0;
  }

  add(address: string, isGone: () => boolean, begin: () => void): void {
    const network = networkOf(address);
    const waiting = { begin, isGone, since: performance.now() };
    const others = this.#waiting.get(network);
    if (others === undefined) this.#waiting.set(network, [waiting]);
    else others.push(waiting);
  }

  /** @param cameIn whether connections came in during the round before */
  begin(cameIn: boolean): void {
    // Those who have gone take up no round: they would become more than there are rounds for.
    for (let gone = true; gone; ) {
      const [first] = this.#waiting;
      if (first === undefined) return;
      const [network, waiting] = first;
      const [next] = waiting;
      if (next === undefined || (cameIn && performance.now() - next.since < PATIENCE)) return;
      waiting.shift();
      this.#waiting.delete(network);
      if (waiting.length > 0) this.#waiting.set(network, waiting);
      gone = next.isGone();
      next.begin();
    }
  }
}

export class Admission {
  readonly #connections = new Rotation();
  readonly #requests = new Rotation();
  #cameIn = false;
  #round: NodeJS.Immediate | undefined;

  /** Takes over the server's new connections, and passes each to Node’s own listeners when it is admitted. */
  constructor(server: Server) {
    const serve = server.listeners('connection');
    server.removeAllListeners('connection');
    // An option of net.Server: a connection is not read before `resume`.
    Object.assign(server, { pauseOnConnect: true });
    server.on('connection', (socket: Socket) => {
      this.#cameIn = true;
      const isGone = () => socket.destroyed;
      this.#connections.add(socket.remoteAddress ?? '', isGone, () => {
        // A stopping service has closed the connections that Node knows of, and this one is not among them.
        if (!server.listening) socket.destroy();
        if (socket.destroyed) return;
        for (const listener of serve) Reflect.apply(listener, server, [socket]);
        socket.resume();
      });
      this.#next();
    });
  }

  /**
   * Resolves when a request from this address may begin.
   * @param isGone says whether its caller has gone meanwhile; then it takes nobody’s place
   */
  async take(address: string, isGone: () => boolean = () => false): Promise<void> {
    const alone = this.#round === undefined;
    this.#next();
    // No round is scheduled, so no other request waits: this one begins at once.
    if (alone) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#requests.add(address, isGone, resolve);
    await promise;
  }

  /** Schedules the next round; rounds stop after one in which nobody waits. */
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
