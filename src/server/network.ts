import { isIPv6 } from 'node:net';

/** The network that an address counts for. An IPv6 host owns a /64 at least, which counts as one address. */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.toLowerCase().startsWith('::ffff:')) return address;
  const [head = '', tail] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = [
    ...left,
    ...Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0'),
    ...right,
  ];
  return groups.slice(0, 4).join(':');
}

/** The wider network around it: the /24 of an IPv4 address, the /48 of an IPv6 host. */
export function widerNetworkOf(address: string): string {
  const dot = address.lastIndexOf('.');
  return dot < 0 ? networkOf(address).split(':').slice(0, 3).join(':') : address.slice(0, dot);
}
