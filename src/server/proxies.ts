/**
 * Which proxies' `X-Forwarded-For` is believed. A caller can write anything before the entries of the
 * operator's own proxies, so these are counted or named in the setting; there is no "all".
 */
import { isIP } from 'node:net';
import { z } from 'zod';

const EXPECTED =
  'expected how many proxies stand before the service (1), or their networks (10.0.0.0/8, 192.168.1.2); ' +
  '"true" would believe whatever a caller writes';
const MOST_PROXIES = 32;
const NAMED = ['loopback', 'linklocal', 'uniquelocal'];

function isNetwork(text: string): boolean {
  if (NAMED.includes(text)) return true;
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  // All addresses (`/0`) would be "all" by another name.
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

/** A count of proxies, or their addresses and networks. */
export const trustedProxies = z
  .union([z.number(), z.array(z.string())], { error: EXPECTED })
  .refine(
    (proxies) =>
      typeof proxies === 'number'
        ? Number.isInteger(proxies) && proxies >= 0 && proxies <= MOST_PROXIES
        : proxies.length > 0 && proxies.every(isNetwork),
    { error: EXPECTED },
  );

/** Parses the variable's text: a number, or a list with commas. `trustedProxies` refuses what is neither. */
export function proxiesFromText(text: string): unknown {
  if (/^\d{1,3}$/.test(text)) return Number(text);
  return text.toLowerCase() === 'false' ? 0 : text.split(',').map((part) => part.trim());
}
