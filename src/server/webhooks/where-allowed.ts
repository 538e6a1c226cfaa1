/** Where a webhook's request may go: to public addresses, and to those private networks that the deployment names. */
import { BlockList, isIP, isIPv4 } from 'node:net';

/** IPv4 networks that are not on the public internet, or not a host's (IANA's special-purpose registry). */
const NOT_PUBLIC_4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
];
/** All of IPv6 that is given to hosts. Outside of it are mapped IPv4, NAT64, unique local, link-local and loopback addresses. */
const PUBLIC_6 = ['2000::/3'];
/** Within it: Teredo and other special purposes, documentation, and 6to4, whose packets go to an IPv4 address. */
const NOT_PUBLIC_6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const NETWORK = /^([0-9a-fA-F.:]{2,45})\/(\d{1,3})$/;

/** Whether the text is an address with the length of its network: `10.2.0.0/16`. */
export function isNetwork(text: string): boolean {
  const [, address = '', bits = ''] = NETWORK.exec(text) ?? [];
  const kind = isIP(address);
  return kind !== 0 && Number(bits) <= (kind === 4 ? 32 : 128);
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [, address = '', bits = ''] = NETWORK.exec(network) ?? [];
    list.addSubnet(address, Number(bits), isIPv4(address) ? 'ipv4' : 'ipv6');
  }
  return list;
}

const notPublic4 = listOf(NOT_PUBLIC_4);
const public6 = listOf(PUBLIC_6);
const notPublic6 = listOf(NOT_PUBLIC_6);

/** Tells whether a request may go to an address. @param networks private ones that are allowed, each as `isNetwork` */
export function whereAllowed(networks: readonly string[]): (address: string) => boolean {
  const allowed = listOf(networks);
  return (address) => {
    const kind = isIP(address);
    // A zone names a link of this machine.
    if (kind === 0 || address.includes('%')) return false;
    if (allowed.check(address, kind === 4 ? 'ipv4' : 'ipv6')) return true;
    if (kind === 4) return !notPublic4.check(address, 'ipv4');
    return public6.check(address, 'ipv6') && !notPublic6.check(address, 'ipv6');
  };
}
