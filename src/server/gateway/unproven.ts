/** Who has connected, and has not proved yet who it is. Their number is bounded, and no network can keep others out. */
import type { WebSocket } from 'ws';

/** The most, and for how long each may be one, ms. */
export const UNPROVEN = { most: 200, ms: 10_000 };
/** What each has at least where others of its network want its place, ms: several round trips. */
const MOMENT = 1_000;

interface Stranger {
  readonly socket: Pick<WebSocket, 'terminate'>;
  readonly network: string;
  readonly since: number;
}

export class Unproven {
  /** In the order in which they have connected. */
  readonly #all = new Set<Stranger>();

  /** @returns what to call once it is none any more */
  add(socket: Stranger['socket'], network: string, since: number): () => void {
    const stranger = { socket, network, since };
    this.#all.add(stranger);
    return () => void this.#all.delete(stranger);
  }

  /**
   * Makes room for one of this network: of those from the network that has most, the one goes that has been there longest. Where that
   * is its own network, that one has its moment first: or else none of them would have the time to prove who it is.
   */
  hasRoom(network: string, now: number): boolean {
    if (this.#all.size < UNPROVEN.most) return true;
    const networks = [...Map.groupBy(this.#all, (one) => one.network).values()];
    const [first] = networks.reduce((a, b) => (b.length > a.length ? b : a));
    if (first === undefined) return true;
    if (first.network === network && now - first.since < MOMENT) return false;
    this.#all.delete(first);
    first.socket.terminate();
    return true;
  }
}
