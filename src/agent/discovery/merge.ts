/**
 * Says which of the endpoints that were found lead to the same printer, and which ID the printer has. A pure function.
 *
 * There are several kinds of evidence; the most trusted comes first in the table. Each kind joins endpoints that have the same
 * value, unless a kind that is trusted more says that they are different devices:
 *
 *   kind        joins                                                kept apart by
 *   fixed       the operator gave these the same ID                  nothing
 *   same        the same URI, with the very same evidence            fixed
 *   serial      the same number                                      fixed, another maker
 *   uuid        the same                                             fixed, serial
 *   device-id   the same, of what is plugged into one computer       fixed, serial, uuid
 *   mac         the same                                             fixed, serial, uuid
 *   queue       the same queue of the same server                    fixed, serial, uuid
 *   address     the same URI, or one is the other's device URI       fixed, serial, uuid
 *
 * Two printers that the configuration names become one only if the evidence at their own addresses says so.
 *
 * The UUID of a queue joins endpoints but keeps none apart, because it changes when the queue is made anew. A value of
 * `device-id` or `mac` joins nothing if one provider lists it for two devices: every unit of a model can have the same device
 * ID, and all printers at one print server have the server's MAC address.
 *
 * A printer's ID is made from the most trusted value that no other printer has. So two printers never share an ID: if a value
 * does not tell them apart, neither gets an ID from it. A known printer keeps its ID until there is better evidence than the
 * ID was made from. No other printer gets the ID of a known one.
 *
 * Addresses on this computer (USB, loopback, its own queues) mean nothing on another computer. So IDs are made from them
 * together with the agent's ID.
 */
import { isLoopback } from '../../../drivers/address.ts';
import type { Transports } from '../../../drivers/transports/transports.ts';
import { type IdentityEvidence, identityEvidence } from '../../contract/printer.ts';
import type { Evidence } from './evidence.ts';
import { addressOf, evidenceOf, printerIdOf } from './identity.ts';
import { CONFIGURED } from './providers/configured.ts';

/** What is known of the device at an address. */
export interface IdentifiedEndpoint {
  uri: string;
  /** Set by the operator. */
  id?: string | undefined;
  evidence?: Evidence | undefined;
}

export interface FoundEndpoint extends IdentifiedEndpoint {
  provider: string;
}

interface MergedPrinter<S extends FoundEndpoint> {
  id: string;
  /** The kind of evidence that the ID was made from. */
  evidence: IdentityEvidence;
  /** In the order in which they were found. */
  seen: S[];
  /** Other IDs that the agent knew this printer by before. */
  replaces: string[];
}

const KINDS = ['fixed', 'same', ...identityEvidence.options] as const;
type Kind = (typeof KINDS)[number];

interface Node {
  provider: string;
  /** Its index among the endpoints found now; -1: this endpoint of a known printer. */
  place: number;
  knownId: string | undefined;
  /** The values that join it to other nodes. */
  keys: ReadonlyMap<Kind, readonly string[]>;
  /** The values that keep it apart from other nodes. */
  apart: ReadonlyMap<'fixed' | 'serial' | 'uuid', string>;
  make: string | undefined;
  address: string;
  /** The IDs that this evidence can make. */
  identities: readonly Identity[];
}
type Cluster = Node[];

/** What it takes to compare addresses. */
interface Surroundings {
  /** What tells this computer from others: the agent's ID. */
  host: string;
  transports: Transports;
}

/**
 * @param known an entry for each endpoint of each known printer; printers to which nothing found leads are not in the result
 */
export function merge<S extends FoundEndpoint>(
  found: readonly S[],
  here: Surroundings,
  known: readonly (IdentifiedEndpoint & { id: string })[] = [],
): MergedPrinter<S>[] {
  const nodes = [
    ...found.map((one, place) => nodeOf(one, here, `found ${one.provider}`, place, undefined)),
    ...known.map(({ id, ...place }) => nodeOf(place, here, 'known', -1, id)),
  ];
  const own = found.flatMap(({ provider }, place) => (provider === CONFIGURED ? (nodes[place] ?? []) : []));
  return named([...new Set(joined(nodes, anchorsOf(nodes, own)).values())], found);
}

/**
 * Says for endpoints at configured addresses to which of the configured printers they lead. Two configured printers are
 * joined only by what is said at their own addresses, never by a device elsewhere that claims to be both.
 */
function anchorsOf(nodes: readonly Node[], own: readonly Node[]): ReadonlyMap<Node, string> {
  const addresses = new Set(own.map(({ address }) => address));
  const there = nodes.filter(({ address }) => addresses.has(address));
  const clusters = [...new Set(joined(there, new Map()).values())];
  return new Map(clusters.flatMap((cluster, place) => cluster.map((node) => [node, String(place)] as const)));
}

/** @returns for each node the cluster of all nodes that lead to the same printer */
function joined(nodes: readonly Node[], anchors: ReadonlyMap<Node, string>): Map<Node, Cluster> {
  const home = new Map<Node, Cluster>(nodes.map((node) => [node, [node]]));
  for (const kind of KINDS) {
    // Sorted, so that the result is always the same: what is joined first may decide what can be joined next.
    for (const [, sharers] of [...sharing(kind, nodes)].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const some = [...new Set(sharers.map((node) => home.get(node) ?? [node]))];
      if (some.length < 2 || isAmbiguous(kind, sharers, home)) continue;
      for (const same of compatible(kind, some, anchors)) {
        const cluster = same.flat();
        for (const node of cluster) home.set(node, cluster);
      }
    }
  }
  return home;
}

function nodeOf(
  { uri, id, evidence = {} }: IdentifiedEndpoint,
  here: Surroundings,
  provider: string,
  place: number,
  knownId: string | undefined,
): Node {
  const { serial, uuid, deviceId, mac, queue, deviceUri, make } = evidence;
  const address = onThisComputer(addressOf(uri), here);
  const isPluggedIn = [uri, deviceUri].some((one = '') => here.transports.traits(one)?.pluggedIn);
  const values: Record<Kind, (string | undefined)[]> = {
    // A known printer with the operator's ID is the same printer.
    fixed: [id ?? knownId],
    same: [JSON.stringify([address, serial, uuid, deviceId, mac, queue, deviceUri, make])],
    serial: [serial?.trim().toUpperCase()],
    uuid: [uuid],
    // Only without a serial number, which says it better. Without one, every unit of the model has the same device ID; so it
    // counts only for what is plugged into this computer.
    'device-id': [
      isPluggedIn && serial === undefined && deviceId !== undefined ? `${here.host} ${deviceId}` : undefined,
    ],
    mac: [mac],
    queue: [queue === undefined ? undefined : onThisComputer(`${QUEUE}${queue}`, here)],
    address: [address, deviceUri === undefined ? undefined : onThisComputer(deviceUri, here)],
  };
  const keys = new Map<Kind, string[]>();
  for (const kind of KINDS) {
    keys.set(
      kind,
      values[kind].flatMap((value) => (value === undefined || value === '' ? [] : [value])),
    );
  }
  const apart = new Map<'fixed' | 'serial' | 'uuid', string>();
  for (const kind of ['fixed', 'serial', 'uuid'] as const) {
    const value = kind === 'fixed' ? id : keys.get(kind)?.[0];
    if (value !== undefined && (kind !== 'uuid' || queue === undefined)) apart.set(kind, value);
  }
  const identities = identitiesOf(keys, apart, address);
  return { provider, place, knownId, keys, apart, make: makerOf(make), address, identities };
}

function sharing(kind: Kind, nodes: Iterable<Node>): Map<string, Node[]> {
  const byValue = new Map<string, Node[]>();
  for (const node of nodes) {
    for (const value of node.keys.get(kind) ?? []) {
      const same = byValue.get(value);
      if (same === undefined) byValue.set(value, [node]);
      else same.push(node);
    }
  }
  return byValue;
}

/**
 * Groups clusters that share a value; each group may be one printer. All clusters are one group, unless evidence that is
 * trusted more tells some of them apart. Then clusters with the same value of that evidence are a group. A cluster without a
 * value, or with several, is in no group: it could belong to any.
 */
function compatible(
  kind: Kind,
  clusters: readonly Cluster[],
  anchors: ReadonlyMap<Node, string>,
): Cluster[][] {
  const tests = [
    (node: Node) => anchors.get(node),
    ...(['fixed', 'serial', 'uuid'] as const)
      .filter((one) => KINDS.indexOf(one) < KINDS.indexOf(kind))
      .map((one) => (node: Node) => node.apart.get(one)),
    ...(kind === 'serial' ? [(node: Node) => node.make] : []),
  ];
  const valuesIn = (cluster: Cluster, test: (node: Node) => string | undefined) =>
    [...new Set(cluster.flatMap((node) => test(node) ?? []))].sort();
  const telling = tests.filter(
    (test) => new Set(clusters.flatMap((cluster) => valuesIn(cluster, test))).size > 1,
  );
  const groups = new Map<string, Cluster[]>();
  for (const cluster of clusters) {
    const values = telling.map((test) => valuesIn(cluster, test));
    if (values.some((some) => some.length !== 1)) continue;
    const key = JSON.stringify(values);
    groups.set(key, [...(groups.get(key) ?? []), cluster]);
  }
  return [...groups.values()].filter((group) => group.length > 1);
}

/** One provider has this value for two devices, so the value is no device's own. */
function isAmbiguous(kind: Kind, nodes: readonly Node[], home: ReadonlyMap<Node, Cluster>): boolean {
  if (kind !== 'device-id' && kind !== 'mac') return false;
  const owners = new Map<string, Cluster | undefined>();
  return nodes.some((node) => {
    const cluster = home.get(node);
    const owner = owners.get(node.provider) ?? cluster;
    owners.set(node.provider, owner);
    return owner !== cluster;
  });
}

/** Gives every printer its ID. Printers that keep their ID come first, so that no other printer takes it. */
function named<S extends FoundEndpoint>(
  clusters: readonly Cluster[],
  found: readonly S[],
): MergedPrinter<S>[] {
  const owners = new Map<string, number>();
  for (const cluster of clusters) {
    for (const key of new Set(cluster.flatMap((node) => node.identities.map(({ id }) => id)))) {
      owners.set(key, (owners.get(key) ?? 0) + 1);
    }
  }
  const own = (cluster: Cluster) =>
    best(cluster.flatMap(({ identities }) => identities).filter(({ id }) => owners.get(id) === 1));
  const before = (cluster: Cluster) =>
    best(
      cluster.flatMap(({ knownId }) =>
        knownId === undefined ? [] : [{ id: knownId, rank: rankOf(knownId) }],
      ),
    );

  const taken = new Set(clusters.flatMap((cluster) => cluster.flatMap(({ knownId }) => knownId ?? [])));
  const ids = new Map<Cluster, string>();
  for (const cluster of clusters) {
    const old = before(cluster);
    const now = own(cluster);
    if (old !== undefined && (now === undefined || old.rank <= now.rank)) ids.set(cluster, old.id);
  }
  for (const cluster of clusters) {
    if (ids.has(cluster)) continue;
    const mine = new Set(cluster.map(({ knownId }) => knownId));
    const free = cluster
      .flatMap(({ identities }) => identities)
      .filter(({ id }) => owners.get(id) === 1 && (!taken.has(id) || mine.has(id)));
    const id = best(free)?.id ?? byAllThatIsKnown(cluster);
    taken.add(id);
    ids.set(cluster, id);
  }
  return clusters
    .flatMap((cluster) => {
      const places = cluster.flatMap(({ place }) => (place < 0 ? [] : [place])).sort((a, b) => a - b);
      const seen = places.flatMap((place) => found[place] ?? []);
      const id = ids.get(cluster);
      if (seen.length === 0 || id === undefined) return [];
      const replaces = cluster.flatMap(({ knownId }) =>
        knownId === undefined || knownId === id ? [] : [knownId],
      );
      return [{ first: places[0] ?? 0, printer: { id, evidence: evidenceOf(id), seen, replaces } }];
    })
    .sort((a, b) => a.first - b.first)
    .map(({ printer }) => printer);
}

interface Identity {
  id: string;
  /** 0 is trusted most. */
  rank: number;
}

/** An ID by address is made from `address` alone. The device URI of a queue joins, but is the address of another endpoint. */
function identitiesOf(keys: Node['keys'], apart: Node['apart'], address: string): Identity[] {
  const fixed = apart.get('fixed');
  return [
    ...(fixed === undefined ? [] : [{ id: fixed, rank: KINDS.indexOf('fixed') }]),
    ...identityEvidence.options.flatMap((kind) => {
      // The UUID of a queue is trusted less than a device's own UUID.
      const rank = KINDS.indexOf(kind) + (kind === 'uuid' && !apart.has('uuid') ? 0.5 : 0);
      const values = kind === 'address' ? [address] : (keys.get(kind) ?? []);
      return values.map((value) => ({ id: printerIdOf({ evidence: kind, value }), rank }));
    }),
  ];
}

/** The most trusted one. If two have the same rank, their IDs decide, so that the order in which they were found does not. */
function best(identities: Identity[]): Identity | undefined {
  return identities.toSorted((a, b) => a.rank - b.rank || (a.id < b.id ? -1 : 1))[0];
}

/** Makes an ID from all evidence together, for a printer that shares each single piece with some other printer. */
function byAllThatIsKnown(cluster: Cluster): string {
  const all = cluster.flatMap(({ keys }) => keys.get('same') ?? []).sort();
  return printerIdOf({ evidence: 'address', value: [...new Set(all)].join('\n') });
}

/** Only for IDs of known printers: an ID that the operator gives now may have any prefix. */
function rankOf(id: string): number {
  return KINDS.indexOf(evidenceOf(id));
}

/** Stands before a queue's name, to make a URI of it. Any scheme would do, as long as it is always the same. */
const QUEUE = 'ipp://';

function onThisComputer(uri: string, { host, transports }: Surroundings): string {
  const hostname = URL.parse(uri)?.hostname ?? '';
  const local = hostname === '' || isLoopback(hostname) || transports.traits(uri)?.ofThisComputer;
  return local ? `${host} ${uri}` : uri;
}

/** The first word of the maker's name: `Zebra Technologies` and `Zebra` are the same maker. */
function makerOf(make: string | undefined): string | undefined {
  const [word] = (make ?? '').toLowerCase().split(/[\s,.]+/);
  if (word === undefined || word === '') return undefined;
  return word === 'hewlett-packard' ? 'hp' : word;
}
