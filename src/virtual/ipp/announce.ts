/**
 * Announces a printer by DNS-SD: sends announcements, answers queries, and says goodbye.
 *
 * Source: RFC 6762 (multicast DNS; §6.7 for one-shot queries, §8.3 announcing, §10.1 goodbye, §11 who may ask),
 * RFC 6763 (DNS-SD), PWG 5100.14 §4.2 (what an IPP printer says in its TXT record).
 */
import { BlockList } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Packet, SrvAnswer, StringAnswer, TxtAnswer } from 'dns-packet';
import multicastDns, { type MulticastDNS } from 'multicast-dns';

export interface Service {
  /** The name for people, at most 63 bytes. */
  readonly name: string;
  /** The host name, without `.local`. */
  readonly host: string;
  readonly port: number;
  /** TXT keys and values. */
  readonly txt: Readonly<Record<string, string>>;
}

const SERVICE = '_ipp._tcp.local';
const SUBTYPE = '_print._sub._ipp._tcp.local';
const SERVICE_TYPES = '_services._dns-sd._udp.local';
const MDNS_PORT = 5353;
/** Time to live, s; shorter for records that depend on the host's address (RFC 6762 §10). */
const LONG_TTL = 4500;
const HOST_TTL = 120;
/** Between the two announcements, ms. */
const AGAIN_AFTER = 1000;

type Entry = StringAnswer | SrvAnswer | TxtAnswer;

/** The name as a single DNS label: DNS-SD allows dots in it, the DNS library does not. */
export function instanceName(name: string): string {
  let label = name.replaceAll('.', '-');
  while (Buffer.byteLength(label) > 63) label = label.slice(0, -1);
  return label;
}

/** The printer on one network interface. */
export class Announcement {
  readonly #service: Service;
  readonly #address: string;
  readonly #failed: (error: Error) => void;
  #mdns: MulticastDNS | undefined;
  #again: NodeJS.Timeout | undefined;

  /** @param address IPv4 address of the interface */
  constructor(service: Service, address: string, failed: (error: Error) => void) {
    this.#service = service;
    this.#address = address;
    this.#failed = failed;
  }

  /** Announces the printer; an error of the network is reported, and the printer prints all the same. */
  async start(): Promise<void> {
    const neighbors = subnet(this.#address);
    // Without an interface of this address the library would send over some other one.
    if (!neighbors) {
      this.#failed(new Error(`no interface has the address ${this.#address}`));
      return;
    }
    // Bound to all addresses: a socket bound to a single one receives no multicast.
    const mdns = multicastDns({ interface: this.#address, bind: '0.0.0.0' });
    this.#mdns = mdns;
    const { promise, resolve } = Promise.withResolvers<void>();
    mdns.once('ready', resolve);
    mdns.on('error', (error: Error) => {
      this.#failed(error);
      resolve();
    });
    // Packets that cannot be read, interfaces that cannot be joined.
    mdns.on('warning', () => undefined);
    mdns.on('query', (query, from) => {
      if (neighbors.check(from.address)) this.#answer(query, from);
    });
    await promise;
    await this.#send(this.#records());
    this.#again = setTimeout(() => void this.#send(this.#records()), AGAIN_AFTER);
    this.#again.unref();
  }

  /** `goodbye`: announce that it goes; if false, as when the power fails, others find out by themselves. */
  async stop(goodbye: boolean): Promise<void> {
    const mdns = this.#mdns;
    if (!mdns) return;
    clearTimeout(this.#again);
    if (goodbye) await this.#send(this.#records().map((record) => ({ ...record, ttl: 0 })));
    this.#mdns = undefined;
    await new Promise<void>((resolve) => mdns.destroy(resolve));
  }

  #records(): Entry[] {
    const { name, host, port, txt } = this.#service;
    const instance = `${instanceName(name)}.${SERVICE}`;
    const target = `${host}.local`;
    const strings = Object.entries(txt).map(([key, value]) => `${key}=${value}`);
    return [
      { name: SERVICE, type: 'PTR', ttl: LONG_TTL, data: instance },
      { name: SUBTYPE, type: 'PTR', ttl: LONG_TTL, data: instance },
      { name: SERVICE_TYPES, type: 'PTR', ttl: LONG_TTL, data: SERVICE },
      { name: instance, type: 'SRV', ttl: HOST_TTL, flush: true, data: { port, target } },
      { name: instance, type: 'TXT', ttl: LONG_TTL, flush: true, data: strings },
      { name: target, type: 'A', ttl: HOST_TTL, flush: true, data: this.#address },
    ];
  }

  #answer(query: Packet, from: { address: string; port: number; size: number; family: string }): void {
    const records = this.#records();
    const asked = (record: Entry) =>
      (query.questions ?? []).some(
        ({ name, type }) =>
          name.toLowerCase() === record.name.toLowerCase() &&
          (type === record.type || String(type) === 'ANY'),
      );
    // A client that already knows an answer does not get it (RFC 6762 §7.1).
    const known = (record: Entry) =>
      (query.answers ?? []).some(
        (answer) => answer.type === 'PTR' && record.type === 'PTR' && answer.data === record.data,
      );
    const answers = records.filter((record) => asked(record) && !known(record));
    if (answers.length === 0) return;
    const additionals = records.filter((record) => record.type !== 'PTR' && !answers.includes(record));
    if (from.port === MDNS_PORT) void this.#send(answers, additionals);
    else {
      // A resolver without multicast DNS gets an ordinary answer, without the cache-flush bit.
      const plain = (record: Entry) => ({ ...record, flush: false });
      this.#mdns?.respond(
        {
          id: query.id ?? 0,
          questions: query.questions ?? [],
          answers: answers.map(plain),
          additionals: additionals.map(plain),
        },
        { address: from.address, port: from.port },
      );
    }
  }

  #send(answers: Entry[], additionals: Entry[] = []): Promise<void> {
    const mdns = this.#mdns;
    if (!mdns) return Promise.resolve();
    return new Promise((resolve) => {
      mdns.respond({ answers, additionals }, (error) => {
        if (error) this.#failed(error);
        resolve();
      });
    });
  }
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
