import { isIPv4, isIPv6, SocketAddress } from 'node:net';
import type { FastifyRequest } from 'fastify';

/** The longest that an address can be, with brackets, zone and port. */
const LONGEST = 100;

/**
 * An address in its one form. Some proxies write the caller's port too, which would make another caller of each connection.
 * @returns undefined for what is no address
 */
export function plainAddress(text: string): string | undefined {
  if (text.length > LONGEST) return undefined;
  const [, byFour = text] = /^([\d.]+):\d{1,5}$/.exec(text) ?? [];
  if (isIPv4(byFour)) return byFour;
  const [, bare = text] = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(text) ?? [];
  const [address = ''] = bare.split('%', 1);
  if (!isIPv6(address)) return undefined;
  const one = new SocketAddress({ address, family: 'ipv6' }).address;
  return one.startsWith('::ffff:') && one.includes('.') ? one.slice('::ffff:'.length) : one;
}

/** The caller, for the audit, the limits and the turns: what a trusted proxy says, or else whoever is connected. */
export function callerAddress({ ip, socket }: Pick<FastifyRequest, 'ip' | 'socket'>): string {
  return plainAddress(ip) ?? plainAddress(socket.remoteAddress ?? '') ?? '';
}

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
