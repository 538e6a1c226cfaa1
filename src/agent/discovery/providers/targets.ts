/**
 * The addresses that a configuration names for looking around: hosts and subnets.
 *
 * Platen asks strangers only if the operator says so. Questions go to these addresses and nowhere else, and answers from other
 * addresses are ignored.
 */
import { BlockList, isIPv4 } from 'node:net';
import { z } from 'zod';

/** Most addresses that one provider looks at: a /22. */
const MOST_TARGETS = 1_024;

/** IPv4 only: a subnet of IPv6 has too many addresses to ask each. */
const EXPECTED = `expected an IPv4 address or a subnet of at most ${MOST_TARGETS} addresses, like 10.0.0.0/24`;

interface Targets {
  /** Each address once, in the order of the names. A subnet's network and broadcast addresses are among them. */
  addresses: string[];
  includes(address: string): boolean;
}

/**
 * @param names each like `10.0.0.7`, `10.0.0.255` (a broadcast address is an address) or `10.0.0.0/24`
 * @throws RangeError if a name is no target, or if there are too many addresses
 */
export function targetsOf(names: readonly string[]): Targets {
  const named = new BlockList();
  const addresses = new Set<string>();
  for (const name of names) {
    const range = parse(name);
    if (range === undefined) throw new RangeError(`${EXPECTED}, got ${JSON.stringify(name.slice(0, 50))}`);
    named.addSubnet(toText(range.first), range.prefix);
    for (let offset = 0; offset < range.count; offset += 1) addresses.add(toText(range.first + offset));
    if (addresses.size > MOST_TARGETS) throw new RangeError(`more than ${MOST_TARGETS} addresses to look at`);
  }
  return { addresses: [...addresses], includes: (address) => isIPv4(address) && named.check(address) };
}

function parse(name: string): { first: number; count: number; prefix: number } | undefined {
  const [address = '', bits = '32', ...rest] = name.split('/');
  const prefix = Number(bits);
  if (!isIPv4(address) || !/^\d{1,2}$/.test(bits) || prefix > 32 || rest.length > 0) return undefined;
  const count = 2 ** (32 - prefix);
  if (count > MOST_TARGETS) return undefined;
  const number = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  return { first: number - (number % count), count, prefix };
}

function toText(number: number): string {
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 0xff).join('.');
}

/** The setting. Nobody but the addresses in it is ever asked. */
export const targetNames = z
  .array(z.string())
  .min(1)
  .max(1_000)
  .superRefine((names, context) => {
    try {
      targetsOf(names);
    } catch (error) {
      context.addIssue(error instanceof Error ? error.message : 'expected IPv4 addresses or subnets');
    }
  });
