/**
 * The DNS records that have been heard, each for as long as it is valid (RFC 6762 §5.2, §10). Their number is bounded, because
 * anybody on the network can send records.
 *
 * A pointer to a printer is dropped before its time if nobody repeats it when asked several times (RFC 6762 §10.5). It may be
 * valid for 75 minutes, and the printer may have been switched off in that time.
 */
import { z } from 'zod';

/** Most records, and the longest time for which a record is believed, s. */
const MOST = 4_000;
const LONGEST_TTL = 75 * 60;
/** Most records of one type and name, except pointers (PTR): a host has few addresses, and an instance is at one place. */
const MOST_OF_NAME = 20;
/** Questions that may go unanswered before a pointer is dropped. */
const UNANSWERED = 3;
/** How long a record stays after another one has replaced it, or its sender has taken it back, ms (RFC 6762 §10.1, §10.2). */
export const GOODBYE = 1_000;

const name = z.string().min(1).max(255);
const ttl = z
  .number()
  .min(0)
  .catch(0)
  .transform((seconds) => Math.min(seconds, LONGEST_TTL));
const common = { name, ttl, flush: z.boolean().default(false) };
const bytes = z.instanceof(Uint8Array);

/** As `dns-packet` decodes them; other types are not used. */
const record = z.discriminatedUnion('type', [
  z.object({ ...common, type: z.literal('PTR'), data: name }),
  z.object({
    ...common,
    type: z.literal('SRV'),
    data: z.object({ target: name, port: z.int().min(0).max(65_535) }),
  }),
  z.object({
    ...common,
    type: z.literal('TXT'),
    data: z.union([bytes.transform((one) => [one]), z.array(bytes)]),
  }),
  z.object({ ...common, type: z.literal('A'), data: z.ipv4() }),
  z.object({ ...common, type: z.literal('AAAA'), data: z.ipv6() }),
]);
type DnsRecord = z.infer<typeof record>;

interface Cached {
  record: DnsRecord;
  /** ms, by the clock that the constructor gets. */
  heardAt: number;
  until: number;
  /** Questions since the record was last heard. */
  asked: number;
}

export class DnsRecords {
  /** By type and name, then by data. The set that was heard last comes last. */
  readonly #sets = new Map<string, Map<string, Cached>>();
  readonly #now: () => number;
  #size = 0;

  /** @param now ms */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  get size(): number {
    return this.#size;
  }

  /** Takes over one record of an answer. @returns what has changed: a record is `new`, or one is `ending` after `GOODBYE` */
  hear(raw: unknown): 'nothing' | 'new' | 'ending' {
    const { data: heard } = record.safeParse(raw);
    if (heard === undefined) return 'nothing';
    const now = this.#now();
    const setKey = `${heard.type} ${heard.name.toLowerCase()}`;
    const set = this.#sets.get(setKey) ?? new Map<string, Cached>();
    const key = keyOf(heard);
    const known = set.get(key);
    if (heard.ttl === 0) {
      if (known === undefined || known.until <= now + GOODBYE) return 'nothing';
      known.until = now + GOODBYE;
      return 'ending';
    }
    let ending = false;
    if (heard.flush) {
      // The flag means "these, and no others". So records of the name are out of date unless they came within the last second.
      for (const [otherKey, other] of set) {
        if (otherKey === key || other.heardAt >= now - GOODBYE || other.until <= now + GOODBYE) continue;
        other.until = now + GOODBYE;
        ending = true;
      }
    }
    if (heard.type !== 'PTR' && known === undefined && set.size >= MOST_OF_NAME) {
      const [oldest = key] = set.keys();
      if (set.delete(oldest)) this.#size -= 1;
    }
    this.#sets.delete(setKey);
    this.#sets.set(setKey, set);
    set.set(key, { record: heard, heardAt: now, until: now + heard.ttl * 1_000, asked: 0 });
    if (known === undefined) this.#size += 1;
    if (this.#size > MOST) this.#makeRoom();
    return ending ? 'ending' : known === undefined ? 'new' : 'nothing';
  }

  /** The instances of this service are about to be asked for. */
  asking(name: string): void {
    for (const held of this.#sets.get(`PTR ${name.toLowerCase()}`)?.values() ?? []) held.asked += 1;
  }

  /** The instances of a service, by name. */
  pointers(name: string): string[] {
    return this.#valid('PTR', name).flatMap((record) => (record.type === 'PTR' ? [record.data] : []));
  }

  services(name: string): { target: string; port: number }[] {
    return this.#valid('SRV', name).flatMap((record) => (record.type === 'SRV' ? [record.data] : []));
  }

  texts(name: string): Uint8Array[][] {
    return this.#valid('TXT', name).flatMap((record) => (record.type === 'TXT' ? [record.data] : []));
  }

  /** IPv4 first. */
  addresses(name: string): string[] {
    return [...this.#valid('A', name), ...this.#valid('AAAA', name)].flatMap((record) =>
      record.type === 'A' || record.type === 'AAAA' ? [record.data] : [],
    );
  }

  #valid(type: DnsRecord['type'], name: string): DnsRecord[] {
    const set = this.#sets.get(`${type} ${name.toLowerCase()}`);
    if (set === undefined) return [];
    const now = this.#now();
    for (const [key, { until, asked }] of set) {
      if (until > now && asked <= UNANSWERED) continue;
      set.delete(key);
      this.#size -= 1;
    }
    return [...set.values()].map((held) => held.record);
  }

  /** The sets that were heard longest ago go first. */
  #makeRoom(): void {
    for (const [key, set] of this.#sets) {
      if (this.#size <= MOST) return;
      this.#sets.delete(key);
      this.#size -= set.size;
    }
  }
}

function keyOf({ type, data }: DnsRecord): string {
  return type === 'TXT' ? Buffer.concat(data).toString('base64') : JSON.stringify(data).toLowerCase();
}
