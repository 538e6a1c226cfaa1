/**
 * Decides which packets of multicast DNS are read. Anybody on the network can send any number of them, of any kind, and they
 * are read on a thread that keeps leases, drives printers or serves callers. A packet of 64 KB whose names are pointers to
 * pointers takes 0.4 s of work.
 */

/** The most bytes of a packet (RFC 6762 §17). */
const LONGEST = 9_000;
/** The most pointers in a row. No more are needed: a name has labels before it points on (RFC 1035 §4.1.4). */
const MOST_POINTERS = 4;
const HEADER = 12;
const POINTER = 0xc0;
/**
 * A window, and the most time in it that is spent on packets, ms. A printer that was not heard is asked again. A quarter of
 * each second would be as much time, but might be spent at one go, and everything else would wait for it.
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

  /** Calls `read`, if the packet is readable and there is time left for it. */
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

/** Whether the time to read a packet is in proportion to its length. */
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
