/**
 * Announces IPP printers by DNS-SD on one network interface: sends announcements, answers queries, and says goodbye.
 *
 * Anybody on the network may ask, as often as they like: `packet-gate.ts` bounds the time for reading, a record is multicast once a
 * second at most, and so many answers go to those who ask alone. Source: RFC 6762 (multicast DNS; §6 how often, §6.7 for one-shot
 * queries, §8.3 announcing, §10.1 goodbye, §11 who may ask), RFC 6763 (DNS-SD), PWG 5100.14 §4.2 (what an IPP printer says in its TXT record).
 */
import { createSocket } from 'node:dgram';
import { BlockList } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Packet, SrvAnswer, StringAnswer, TxtAnswer } from 'dns-packet';
import multicastDns, { type MulticastDNS } from 'multicast-dns';
import { PacketGate } from '../../drivers/dns-sd/packet-gate.ts';

export interface Service {
  /** The name for people, at most 63 bytes. */
  readonly name: string;
  readonly type: '_ipp._tcp' | '_ipps._tcp';
  /** The host's name. One that ends in `.local` is announced, too. */
  readonly host: string;
  readonly port: number;
  /** TXT keys and values. */
  readonly txt: Readonly<Record<string, string>>;
  /** IPv4 address of the host. Left out: that of the interface. */
  readonly address?: string;
}

const SERVICE_TYPES = '_services._dns-sd._udp.local';
const MDNS_PORT = 5353;
/** Time to live, s; shorter for records that depend on the host's address (RFC 6762 §10). */
const LONG_TTL = 4500;
const HOST_TTL = 120;
/** Between the two announcements, and the least between two multicasts of a record, ms. */
const AGAIN_AFTER = 1000;
/** Questions of a packet that are looked at. */
const MOST_QUESTIONS = 100;
/** Answers to single callers in `AGAIN_AFTER`. */
const MOST_DIRECT = 50;
/** Bytes of one string of a TXT record (RFC 6763 §6.1). */
const LONGEST_TEXT = 255;

type Entry = StringAnswer | SrvAnswer | TxtAnswer;
type From = { address: string; port: number };

/** The name as a single DNS label: DNS-SD allows dots in it, the DNS library does not; no control characters (RFC 6763 §4.1.1). */
export function instanceName(name: string): string {
  return cut(name.replaceAll(/[.\p{Cc}]/gu, '-'), 63);
}

/** As many of the first characters as have so many bytes. */
export function cut(text: string, bytes: number): string {
  let some = text;
  while (Buffer.byteLength(some) > bytes) some = some.slice(0, -1);
  return some.toWellFormed();
}

export class Announcement {
  readonly #address: string;
  readonly #failed: (error: Error) => void;
  readonly #gate = new PacketGate();
  #mdns: MulticastDNS | undefined;
  #again: NodeJS.Timeout | undefined;
  /** Of each service its records, by its instance's name. */
  #records = new Map<string, readonly Entry[]>();
  /** The same by the name that is asked for, in lower case, each with its service's. */
  #byName = new Map<string, { entry: Entry; of: readonly Entry[] }[]>();
  /** When a record was multicast, ms. */
  #sentAt = new WeakMap<Entry, number>();
  #direct = { since: Number.NEGATIVE_INFINITY, count: 0 };

  /** @param address IPv4 address of the interface */
  constructor(address: string, failed: (error: Error) => void) {
    this.#address = address;
    this.#failed = failed;
  }

  /** Announces the services; an error of the network is reported. */
  async start(services: readonly Service[]): Promise<void> {
    const neighbors = subnet(this.#address);
    // Without an interface of this address the library would send over some other one.
    if (!neighbors) {
      this.#failed(new Error(`no interface has the address ${this.#address}`));
      return;
    }
    const socket = createSocket({ type: 'udp4', reuseAddr: true });
    // Bound to all addresses: a socket bound to a single one receives no multicast.
    const mdns = multicastDns({ socket, interface: this.#address, bind: '0.0.0.0' });
    this.#mdns = mdns;
    const { promise, resolve } = Promise.withResolvers<void>();
    mdns.once('ready', resolve);
    mdns.on('error', (error: Error) => {
      this.#failed(error);
      resolve();
    });
    // Packets that cannot be read, interfaces that cannot be joined.
    mdns.on('warning', () => undefined);
    mdns.on('query', (query, from) => this.#answer(query, from));
    const readers = socket.rawListeners('message');
    socket.removeAllListeners('message');
    socket.on('message', (packet, from) => {
      if (!neighbors.check(from.address)) return;
      this.#gate.pass(packet, () => {
        for (const read of readers) Reflect.apply(read, socket, [packet, from]);
      });
    });
    await promise;
    await this.change(services);
  }

  /** Says goodbye to those that are not among these, and announces those that are new or say something else. */
  async change(services: readonly Service[]): Promise<void> {
    const before = this.#records;
    const now = new Map(services.map((service) => [instanceOf(service), this.#recordsOf(service)]));
    const isSame = (name: string, records: readonly Entry[]) =>
      JSON.stringify(before.get(name)) === JSON.stringify(records);
    // What stays keeps when it was sent.
    this.#records = new Map(
      [...now].map(([name, records]) => [
        name,
        isSame(name, records) ? (before.get(name) ?? records) : records,
      ]),
    );
    this.#byName = Map.groupBy(
      [...this.#records.values()].flatMap((of) => of.map((entry) => ({ entry, of }))),
      ({ entry }) => entry.name.toLowerCase(),
    );
    for (const [name, records] of before) if (!now.has(name)) await this.#goodbye(records);
    const fresh = [...now].filter(([name, records]) => !isSame(name, records));
    if (fresh.length === 0) return;
    const announce = async () => {
      for (const [name] of fresh) await this.#send(this.#records.get(name) ?? []);
    };
    await announce();
    clearTimeout(this.#again);
    this.#again = setTimeout(() => void announce(), AGAIN_AFTER);
    this.#again.unref();
  }

  /** `goodbye`: announce that all go; if false, as when the power fails, others find out by themselves. */
  async stop(goodbye: boolean): Promise<void> {
    const mdns = this.#mdns;
    if (!mdns) return;
    clearTimeout(this.#again);
    if (goodbye) for (const records of this.#records.values()) await this.#goodbye(records, true);
    this.#mdns = undefined;
    await new Promise<void>((resolve) => mdns.destroy(resolve));
  }

  /** @param all the host goes as well, of which other services may be */
  async #goodbye(records: readonly Entry[], all = false): Promise<void> {
    const own = records.filter((record) => all || (record.type !== 'A' && record.name !== SERVICE_TYPES));
    await this.#send(own.map((record) => ({ ...record, ttl: 0 })));
  }

  #recordsOf(service: Service): Entry[] {
    const { host, port, txt, address = this.#address } = service;
    const type = `${service.type}.local`;
    const instance = instanceOf(service);
    const strings = Object.entries(txt).map(([key, value]) => cut(`${key}=${value}`, LONGEST_TEXT));
    return [
      { name: type, type: 'PTR', ttl: LONG_TTL, data: instance },
      { name: `_print._sub.${type}`, type: 'PTR', ttl: LONG_TTL, data: instance },
      { name: SERVICE_TYPES, type: 'PTR', ttl: LONG_TTL, data: type },
      { name: instance, type: 'SRV', ttl: HOST_TTL, flush: true, data: { port, target: host } },
      { name: instance, type: 'TXT', ttl: LONG_TTL, flush: true, data: strings },
      ...(host.endsWith('.local')
        ? [{ name: host, type: 'A' as const, ttl: HOST_TTL, flush: true, data: address }]
        : []),
    ];
  }

  #answer(query: Packet, from: From): void {
    // A client that already knows an answer does not get it (RFC 6762 §7.1).
    const known = new Set(
      (query.answers ?? []).flatMap((answer) =>
        answer.type === 'PTR' ? [`${answer.name} ${answer.data}`] : [],
      ),
    );
    const asked = new Set(
      (query.questions ?? [])
        .slice(0, MOST_QUESTIONS)
        .flatMap(({ name, type }) =>
          (this.#byName.get(name.toLowerCase()) ?? []).filter(
            ({ entry }) => entry.type === type || String(type) === 'ANY',
          ),
        ),
    );
    const answers = [...asked].filter(
      ({ entry }) => !(entry.type === 'PTR' && known.has(`${entry.name} ${entry.data}`)),
    );
    // A packet for each service: together they may be longer than a packet can be.
    for (const [of, some] of Map.groupBy(answers, (answer) => answer.of)) {
      const entries = some.map(({ entry }) => entry);
      const more = of.filter((record) => record.type !== 'PTR' && !entries.includes(record));
      if (from.port === MDNS_PORT) void this.#sendAgain(entries, more);
      else this.#sendTo(from, query, entries, more);
    }
  }

  /** A resolver without multicast DNS gets an ordinary answer, without the cache-flush bit. */
  #sendTo(from: From, query: Packet, answers: readonly Entry[], additionals: readonly Entry[]): void {
    const now = performance.now();
    if (now - this.#direct.since >= AGAIN_AFTER) this.#direct = { since: now, count: 0 };
    if (this.#direct.count >= MOST_DIRECT) return;
    this.#direct.count += 1;
    const plain = (record: Entry) => ({ ...record, flush: false });
    this.#mdns?.respond(
      {
        id: query.id ?? 0,
        questions: (query.questions ?? []).slice(0, 1),
        answers: answers.map(plain),
        additionals: additionals.map(plain),
      },
      { address: from.address, port: from.port },
    );
  }

  /** Multicasts those of the answers that were not in the last second. */
  async #sendAgain(answers: readonly Entry[], additionals: readonly Entry[]): Promise<void> {
    const now = performance.now();
    const isDue = (record: Entry) =>
      now - (this.#sentAt.get(record) ?? Number.NEGATIVE_INFINITY) >= AGAIN_AFTER;
    const due = answers.filter(isDue);
    if (due.length > 0) await this.#send(due, additionals);
  }

  #send(answers: readonly Entry[], additionals: readonly Entry[] = []): Promise<void> {
    const mdns = this.#mdns;
    if (!mdns || answers.length === 0) return Promise.resolve();
    const now = performance.now();
    for (const record of answers) this.#sentAt.set(record, now);
    return new Promise((resolve) => {
      mdns.respond({ answers: [...answers], additionals: [...additionals] }, (error) => {
        if (error) this.#failed(error);
        resolve();
      });
    });
  }
}

function instanceOf({ name, type }: Service): string {
  return `${instanceName(name)}.${type}.local`;
}

/** The IPv4 addresses at which a server that listens on `host` can be reached. */
export function reachableAt(host: string): string[] {
  if (host !== '0.0.0.0' && host !== '::') return /^\d+\.\d+\.\d+\.\d+$/.test(host) ? [host] : [];
  return ownAddresses().map(({ address }) => address);
}

function ownAddresses() {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.filter(({ family }) => family === 'IPv4');
}

/** The subnet of the interface with this address; undefined: there is no such interface. */
function subnet(address: string): BlockList | undefined {
  const found = ownAddresses().find((each) => each.address === address);
  if (!found) return undefined;
  const list = new BlockList();
  list.addSubnet(address, Number(found.cidr?.split('/')[1] ?? 32), 'ipv4');
  return list;
}
