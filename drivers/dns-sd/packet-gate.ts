/**
 * Which packets of multicast DNS are read. Anybody on the network can send any number of them, of any kind, and they are read
 * on a thread that keeps leases, drives printers or serves callers. One of 64 KB, whose names are pointers to pointers, is 0.4 s of work.
 */

/** Bytes of a packet, at most (RFC 6762 §17). */
const LONGEST = 9_000;
/** Pointers, one leading to the next: a name has labels before it points on (RFC 1035 §4.1.4). */
const MOST_POINTERS = 4;
const HEADER = 12;
const POINTER = 0xc0;
/**
 * The most time in each window that is spent on packets, both ms; a printer not heard is asked again. A quarter of each second
 * is as much, but would be spent at one go, and all others would wait for it.
 */
const WINDOW = 200;
const MOST_SPENT = 50;

export class PacketGate {
  readonly #now: () => number;
  #since = Number.NEGATIVE_INFINITY;
  #spent = 0;

  /** @param now ms */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Has the packet read, if it is one, and there is time for it. */
  pass(packet: Uint8Array, read: () => void): void {
    const begun = this.#now();
    if (begun - this.#since >= WINDOW) {
      this.#since = begun;
      this.#spent = 0;
    }
    if (this.#spent >= MOST_SPENT || !isReadable(packet)) return;
    read();
    this.#spent += this.#now() - begun;
  }
}

/** Whether reading it takes time in proportion to its length. */
export function isReadable(packet: Uint8Array): boolean {
  if (packet.length > LONGEST) return false;
  /** How many pointers follow one another from each byte that may be one. */
  const chains = new Uint8Array(packet.length);
  for (let at = HEADER; at + 1 < packet.length; at += 1) {
    const [first = 0, second = 0] = [packet[at], packet[at + 1]];
    if (first < POINTER) continue;
    const to = (first - POINTER) * 256 + second;
    const chain = 1 + (to < at ? (chains[to] ?? 0) : 0);
    if (chain > MOST_POINTERS) return false;
    chains[at] = chain;
  }
  return true;
}
