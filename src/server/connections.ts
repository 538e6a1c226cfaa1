/**
 * Bounds the number of connections without letting anybody shut others out: at the bound, one that is idle or slow is closed for
 * the new one. First come those whose caller has not been identified, then the others; of these, those of the network that holds
 * most connections, and there the one that has been idle for longest. So idle strangers close each other, and no stream of a person
 * who is signed in. A request that has come in whole, and is being worked on, keeps its connection, unless its answer is a stream,
 * which may go on for hours. A connection that brings many requests before it has the answers is closed.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { readNoFurther } from '../ipp/read-no-further.ts';
import { networkOf, widerNetworkOf } from './network.ts';

/** ms for a reader to take an answer; then its connection is closed. */
const ANSWER_TIMEOUT = 60_000;

/**
 * Requests of one connection that may be under way. Hardly any client sends the next one before it has the
 * answer; a stranger could send hundreds of thousands in a few MB, of which each takes some KB here.
 */
const MOST_AT_ONCE = 4;

interface Connections {
  /** Work on a request without a body begins: nobody reads it to its end. */
  works(request: IncomingMessage): void;
  /** The connection is not one of HTTP any more: somebody else bounds it. */
  upgraded(request: IncomingMessage): void;
  /** It is known who sent the request: a person with a session, a service account, an administrator. */
  identified(request: IncomingMessage): void;
}

type Place = {
  readonly socket: Socket;
  readonly network: string;
  readonly wider: string;
  identified: boolean;
  /** The higher, the later its latest rest began. */
  restedAt: number;
  /** Requests of it that have no answer yet. */
  underWay: number;
};
type ByNetwork = Map<string, Set<Place>>;

/** The open connections, and which of them goes first. */
class Places {
  readonly #most: number;
  readonly #all = new Set<Place>();
  /** Those at rest, in each network the longest first: a set keeps the order in which members came. */
  readonly #strangers: ByNetwork = new Map();
  readonly #identified: ByNetwork = new Map();
  /** How many connections each network has, and each wider one. */
  readonly #counts = new Map<string, number>();
  #rests = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Undefined: there is no room for it. */
  open(socket: Socket): Place | undefined {
    const { remoteAddress = '' } = socket;
    const [network, wider] = [networkOf(remoteAddress), widerNetworkOf(remoteAddress)];
    if (this.#all.size >= this.#most) {
      const first = this.#worst(this.#strangers) ?? this.#worst(this.#identified, this.#count(wider));
      if (first === undefined) return undefined;
      this.close(first);
      first.socket.destroy();
    }
    const place: Place = { socket, network, wider, identified: false, restedAt: 0, underWay: 0 };
    this.#all.add(place);
    for (const one of [network, wider]) this.#counts.set(one, this.#count(one) + 1);
    this.rest(place);
    return place;
  }

  close(place: Place): void {
    if (!this.#all.delete(place)) return;
    this.work(place);
    for (const one of [place.network, place.wider]) {
      const left = this.#count(one) - 1;
      if (left === 0) this.#counts.delete(one);
      else this.#counts.set(one, left);
    }
  }

  rest(place: Place): void {
    if (!this.#all.has(place)) return;
    this.work(place);
    place.restedAt = ++this.#rests;
    const tier = place.identified ? this.#identified : this.#strangers;
    const others = tier.get(place.network);
    if (others === undefined) tier.set(place.network, new Set([place]));
    else others.add(place);
  }

  work(place: Place): void {
    const tier = place.identified ? this.#identified : this.#strangers;
    const others = tier.get(place.network);
    if (others?.delete(place) && others.size === 0) tier.delete(place.network);
  }

  identify(place: Place): void {
    if (place.identified) return;
    const atRest = this.#strangers.get(place.network)?.has(place) === true;
    this.work(place);
    place.identified = true;
    if (atRest) this.rest(place);
  }

  #count(network: string): number {
    return this.#counts.get(network) ?? 0;
  }

  /** @param least connections of the wider network of the one that goes; undefined: each has fewer */
  #worst(tier: ByNetwork, least = 0): Place | undefined {
    let worst: { place: Place; wider: number; own: number } | undefined;
    for (const [network, [place]] of tier) {
      if (place === undefined) continue;
      const [wider, own] = [this.#count(place.wider), this.#count(network)];
      const order =
        worst === undefined
          ? 1
          : wider - worst.wider || own - worst.own || worst.place.restedAt - place.restedAt;
      if (order > 0) worst = { place, wider, own };
    }
    return worst !== undefined && worst.wider >= least ? worst.place : undefined;
  }
}

/** Keeps the server at `most` connections, and takes over its listeners for requests. */
export function boundConnections(server: Server, most: number): Connections {
  const places = new Places(most);
  const placeOf = new WeakMap<Socket, Place>();

  // Who takes an upgraded connection has a bound of its own.
  const upgraded = ({ socket }: IncomingMessage) => {
    const place = placeOf.get(socket);
    if (place !== undefined) places.close(place);
  };

  server.on('connection', (socket: Socket) => {
    const place = places.open(socket);
    if (place === undefined) {
      socket.destroy();
      return;
    }
    placeOf.set(socket, place);
    socket.once('close', () => places.close(place));
  });

  const works = new WeakMap<IncomingMessage, () => void>();
  const serve = server.listeners('request');
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const place = placeOf.get(socket);
    if (socket.destroyed || place === undefined) return;
    place.underWay += 1;
    if (place.underWay > MOST_AT_ONCE) {
      readNoFurther(socket);
      socket.destroy();
      return;
    }
    response.once('close', () => {
      place.underWay -= 1;
    });
    const rest = () => {
      if (!socket.destroyed) places.rest(place);
    };
    rest();
    const work = () => {
      if (!socket.destroyed && !response.writableEnded) places.work(place);
    };
    request.once('end', work);
    works.set(request, work);
    response.once('pipe', rest);
    // The answer is complete: from here on only a slow reader can keep the connection.
    response.once('prefinish', () => {
      rest();
      const timer = setTimeout(() => socket.destroy(), ANSWER_TIMEOUT);
      response.once('close', () => clearTimeout(timer));
    });
    for (const listener of serve) Reflect.apply(listener, server, [request, response]);
  });
  return {
    works: (request) => works.get(request)?.(),
    upgraded,
    identified: ({ socket }) => {
      const place = placeOf.get(socket);
      if (place !== undefined) places.identify(place);
    },
  };
}
