/**
 * Where a request to a tenant's address goes. The host's name is looked up once, every address that it has must be allowed,
 * and the connection goes to one of these very addresses: a name that has another address a moment later changes nothing. A
 * redirect is an answer like any other, and is not followed.
 */
import { lookup } from 'node:dns/promises';
import type { RequestOptions } from 'node:https';
import { isIP } from 'node:net';

export type Ways = {
  isAllowed: (address: string) => boolean;
  addressesOf?: (host: string) => Promise<readonly string[]>;
  signal: AbortSignal;
};

export const NOT_PUBLIC = 'the address is not a public one';

async function resolved(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/** @param url https. @returns undefined: it may not go there. @throws what the look-up throws, and the signal's reason */
export async function checkedPlace(
  url: string,
  { isAllowed, addressesOf = resolved, signal }: Ways,
): Promise<(RequestOptions & { headers: { host: string; 'user-agent': string } }) | undefined> {
  const { hostname, host, port, pathname, search } = new URL(url);
  const name = hostname.replace(/^\[(.*)\]$/, '$1');
  const addresses = isIP(name) === 0 ? await within(addressesOf(name), signal) : [name];
  const [address] = addresses;
  if (address === undefined || !addresses.every(isAllowed)) return undefined;
  return {
    host: address,
    ...(isIP(name) === 0 && { servername: name }),
    port: port === '' ? 443 : Number(port),
    path: pathname + search,
    agent: false,
    signal,
    headers: { host, 'user-agent': 'Platen' },
  };
}

/** A look-up cannot be stopped, only left. */
export async function within<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const leave = () => reject(signal.reason);
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

/** The system's word for it, without the address that it names. */
export function reasonOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return 'the request failed';
}
