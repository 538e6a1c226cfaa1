/**
 * Printers that announce themselves on the network (DNS-SD over multicast DNS: Bonjour, AirPrint).
 *
 * A listener on each interface stays open between scans, so that an announcement is heard at once. A scan asks for all
 * services. Then it asks for what the answers left out (SRV, TXT, addresses), because many printers send these only when asked.
 * It lists what is valid in the end. The services with the same instance name at the same host are one printer (Bonjour
 * Printing Specification §4.1), so what one of them says counts for all.
 *
 * Anybody on the network can answer, with anything and without end. So `drivers/dns-sd/packet-gate.ts` bounds how much is read,
 * and `dns-records.ts` takes only well-formed records, up to a limit. `dns-packet` does the reading; if it throws,
 * `multicast-dns` turns the exception into a warning. An address must be in a network of one of our interfaces.
 * Source: RFC 6762, RFC 6763.
 */
import { createSocket, type Socket } from 'node:dgram';
import { BlockList, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import multicastDns from 'multicast-dns';
import { z } from 'zod';
import { inUri } from '../../../../../drivers/address.ts';
import { PacketGate } from '../../../../../drivers/dns-sd/packet-gate.ts';
import { plainText } from '../../../../../drivers/transports/device-id.ts';
import { standardTransports } from '../../../../../drivers/transports/index.ts';
import type { TransportTraits } from '../../../../../drivers/transports/transport.ts';
import type { Transports } from '../../../../../drivers/transports/transports.ts';
import { pause } from '../../../pause.ts';
import type { Evidence } from '../../evidence.ts';
import { type DiscoveryProvider, providerKind, type Sighting } from '../../provider.ts';
import { type DnsQuestion, encodeQuestions } from './dns-question.ts';
import { DnsRecords, GOODBYE } from './dns-records.ts';
import { parseTxt } from './dns-sd-txt.ts';

export const dnsSd = providerKind({
  settings: {
    /** Printers that announce themselves (Bonjour). */
    dnsSd: z.boolean().default(false),
    /** Addresses of the interfaces to listen on for them; by default all but loopback. */
    interfaces: z.array(z.ipv4()).max(32).exactOptional(),
  },
  asked: ({ dnsSd, interfaces }, transports) =>
    dnsSd ? [dnsSdDiscovery({ transports, ...(interfaces !== undefined && { interfaces }) })] : [],
});

interface DnsSdOptions {
  /** IPv4 addresses of the interfaces to listen on; by default all but loopback, looked up at each scan. */
  interfaces?: readonly string[];
  /** By default all standard transports. */
  transports?: Transports;
  /** How long the first scan collects answers, ms. Later scans take half as long, because they know most of it already. */
  timeout?: number;
}

type Service = NonNullable<TransportTraits['dnsSd']>;

const GROUP = '224.0.0.251';
const PORT = 5353;
/** Steps of a scan. Between two steps it asks for what is still missing. */
const STEPS = 5;
const MOST_INTERFACES = 32;
/** Instances of one service that are looked at. */
const MOST_INSTANCES = 500;
/** Records taken from one packet. */
const MOST_RECORDS = 400;
/** How long news waits, ms, so that all packets of an announcement are told together. */
const NEWS_AFTER = 200;

interface Listener {
  send(packet: Buffer): void;
  close(): Promise<void>;
}

export function dnsSdDiscovery(options: DnsSdOptions = {}): DnsSdProvider {
  return new DnsSdProvider(options);
}

export class DnsSdProvider implements DiscoveryProvider {
  readonly id = 'dns-sd';
  readonly exhaustive = false;
  onNews: (() => void) | undefined;
  readonly #options: DnsSdOptions;
  /** Most preferred first. */
  readonly #services: readonly Service[];
  readonly #records = new DnsRecords();
  readonly #listeners = new Map<string, Listener>();
  readonly #gate = new PacketGate();
  #news: NodeJS.Timeout | undefined;
  #ended: NodeJS.Timeout | undefined;
  #scanned = false;
  /** Never rejects. */
  #listening: Promise<void> = Promise.resolve();

  constructor(options: DnsSdOptions) {
    this.#options = options;
    this.#services = [...(options.transports ?? standardTransports)]
      .flatMap(({ dnsSd }) => dnsSd ?? [])
      .toSorted((a, b) => a.order - b.order);
  }

  async find(signal: AbortSignal): Promise<Sighting[]> {
    signal.throwIfAborted();
    // One after the other: two scans at the same time would open each listener twice.
    this.#listening = this.#listening.then(() => this.#listen());
    await this.#listening;
    const { timeout = 1_500 } = this.#options;
    const step = timeout / STEPS / (this.#scanned ? 2 : 1);
    const pointers = this.#services.map(({ service }) => question('PTR', service));
    for (const { service } of this.#services) this.#records.asking(`${service}.local`);
    this.#ask(pointers);
    for (let count = 1; count < STEPS; count += 1) {
      await pause(step, signal);
      signal.throwIfAborted();
      this.#ask([
        // Asked again, in case the first question was lost. A printer that has answered within the last second keeps quiet.
        ...(count === 2 ? pointers : []),
        ...this.#missing(),
      ]);
    }
    await pause(step, signal);
    signal.throwIfAborted();
    this.#scanned = true;
    return this.#found();
  }

  async stop(): Promise<void> {
    await this.#listening;
    clearTimeout(this.#news);
    clearTimeout(this.#ended);
    this.#news = undefined;
    const listeners = [...this.#listeners.values()];
    this.#listeners.clear();
    this.#scanned = false;
    await Promise.all(listeners.map((listener) => listener.close()));
  }

  /** A listener for each interface that is there now. */
  async #listen(): Promise<void> {
    const wanted = new Set((this.#options.interfaces ?? ownAddresses()).slice(0, MOST_INTERFACES));
    for (const [address, listener] of this.#listeners) {
      if (wanted.has(address)) continue;
      this.#listeners.delete(address);
      await listener.close();
    }
    for (const address of wanted) {
      if (this.#listeners.has(address)) continue;
      const listener = await listen(
        address,
        this.#gate,
        (records) => this.#heard(records),
        () => this.#listeners.delete(address),
      );
      if (listener !== undefined) this.#listeners.set(address, listener);
    }
  }

  #heard(records: readonly unknown[]): void {
    const changes = records.slice(0, MOST_RECORDS).map((record) => this.#records.hear(record));
    if (changes.some((change) => change !== 'nothing') && this.#news === undefined) {
      this.#news = setTimeout(() => {
        this.#news = undefined;
        this.onNews?.();
      }, NEWS_AFTER).unref();
    }
    // A record that ends is still valid for a moment. So a second scan comes after that moment, to see that it is gone.
    if (!changes.includes('ending')) return;
    clearTimeout(this.#ended);
    this.#ended = setTimeout(() => this.onNews?.(), GOODBYE + NEWS_AFTER).unref();
  }

  #ask(questions: DnsQuestion[]): void {
    for (const packet of encodeQuestions(questions)) {
      for (const listener of this.#listeners.values()) listener.send(packet);
    }
  }

  #instances({ service }: Service): { name: string; instance: string }[] {
    const suffix = `.${service}.local`;
    return this.#records
      .pointers(`${service}.local`)
      .slice(0, MOST_INSTANCES)
      .flatMap((name) =>
        name.toLowerCase().endsWith(suffix) ? [{ name, instance: name.slice(0, -suffix.length) }] : [],
      );
  }

  #missing(): DnsQuestion[] {
    return this.#services.flatMap((service) =>
      this.#instances(service).flatMap(({ name, instance }): DnsQuestion[] => {
        const labels = [instance, ...service.service.split('.'), 'local'];
        const services = this.#records.services(name);
        return [
          ...(services.length === 0 ? [{ type: 'SRV' as const, labels }] : []),
          ...(this.#records.texts(name).length === 0 ? [{ type: 'TXT' as const, labels }] : []),
          ...services
            .filter(({ target }) => this.#records.addresses(target).length === 0)
            .flatMap(({ target }) => [question('A', target, ''), question('AAAA', target, '')]),
        ];
      }),
    );
  }

  #found(): Sighting[] {
    const networks = networksOf([...this.#listeners.keys()]);
    const found = this.#services.flatMap((service) =>
      this.#instances(service).flatMap(({ name, instance }) => {
        const [location] = this.#records.services(name);
        // Port 0 means that the name is reserved, but there is no such service (Bonjour Printing Specification §4.2).
        if (location === undefined || location.port === 0) return [];
        const address = this.#records
          .addresses(location.target)
          .find((one) => networks.check(one, isIPv6(one) ? 'ipv6' : 'ipv4'));
        if (address === undefined) return [];
        const { evidence, resource, offered } = parseTxt(this.#records.texts(name)[0] ?? []);
        // A printer that Platen itself offers: driving it would make Platen print to itself.
        if (offered) return [];
        const uri = service.address(inUri(address), location.port, pathOf(resource));
        return [{ uri, instance, target: location.target.toLowerCase(), evidence }];
      }),
    );
    return found
      .filter(({ uri }) => uri.length <= 500)
      .map(({ uri, instance, target, evidence }) => {
        const alike = found.filter((other) => other.instance === instance && other.target === target);
        const name = plainText(instance).slice(0, 200).trim();
        return {
          uri,
          ...(name !== '' && { name }),
          evidence: together(
            evidence,
            alike.map((one) => one.evidence),
          ),
        };
      });
  }
}

/** What all services of one printer say, except where they contradict each other. What a service says itself comes first. */
function together(own: Evidence, all: readonly Evidence[]): Evidence {
  const shared = (['serial', 'uuid', 'make', 'model'] as const).flatMap((key) => {
    const values = new Set(all.flatMap((evidence) => evidence[key] ?? []));
    return values.size === 1 ? [[key, [...values][0]] as const] : [];
  });
  return { ...Object.fromEntries(shared), ...own };
}

function question(type: DnsQuestion['type'], name: string, domain = '.local'): DnsQuestion {
  return { type, labels: `${name}${domain}`.split('.') };
}

/** Undefined: there is no multicast on this interface, or another program holds the port for itself. */
async function listen(
  address: string,
  gate: PacketGate,
  onRecords: (records: readonly unknown[]) => void,
  onGone: () => void,
): Promise<Listener | undefined> {
  const socket = createSocket({ type: 'udp4', reuseAddr: true });
  socket.unref();
  const mdns = multicastDns({ socket, port: PORT, bind: '0.0.0.0', multicast: false });
  const { promise, resolve } = Promise.withResolvers<boolean>();
  mdns.once('ready', () => resolve(true));
  mdns.on('error', () => resolve(false));
  // Warnings are ignored: they tell of a malformed packet, or of a network that is down for now.
  mdns.on('warning', () => undefined);
  mdns.on('response', ({ answers, additionals }) => onRecords([...(answers ?? []), ...(additionals ?? [])]));
  const readers = socket.rawListeners('message');
  socket.removeAllListeners('message');
  socket.on('message', (packet, from) => {
    gate.pass(packet, () => {
      for (const read of readers) Reflect.apply(read, socket, [packet, from]);
    });
  });
  const close = () => new Promise<void>((done) => void mdns.destroy(() => done()));
  socket.once('close', onGone);
  if (!(await promise) || !joined(socket, address)) {
    await close().catch(() => undefined);
    return undefined;
  }
  return { send: (packet) => socket.send(packet, PORT, GROUP, () => undefined), close };
}

function joined(socket: Socket, address: string): boolean {
  try {
    socket.addMembership(GROUP, address);
    socket.setMulticastInterface(address);
    // TTL 255 shows receivers that the packet comes from their own network (RFC 6762 §11). Loopback reaches printers that
    // programs on this machine announce.
    socket.setMulticastTTL(255);
    socket.setMulticastLoopback(true);
    return true;
  } catch {
    return false;
  }
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ family, internal }) => family === 'IPv4' && !internal)
    .map(({ address }) => address);
}

/**
 * The networks of the interfaces with these addresses. Multicast DNS reaches no further. A stranger may announce an address
 * elsewhere, above all one of this machine's own ports; Platen must not connect to it.
 */
function networksOf(listening: readonly string[]): BlockList {
  const networks = new BlockList();
  const listened = Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.some(({ address }) => listening.includes(address)) ? addresses : [],
  );
  for (const { cidr, family } of listened) {
    const [network, prefix] = cidr?.split('/') ?? [];
    // A link-local address of IPv6 means nothing without its interface, and a URI cannot name the interface.
    if (network === undefined || network.toLowerCase().startsWith('fe80:')) continue;
    networks.addSubnet(network, Number(prefix), family === 'IPv6' ? 'ipv6' : 'ipv4');
  }
  return networks;
}

/** `rp` as the path of a URI. Parts that are already percent-encoded stay as they are. */
function pathOf(resource: string): string {
  return resource
    .split('/')
    .map((part) => encodeURIComponent(part).replace(/%25(?=[0-9a-f]{2})/gi, '%'))
    .join('/');
}
