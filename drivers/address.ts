/** Device addresses as URIs. An error names the part that is wrong, but never the URI, because it may carry credentials. */
import { isIPv6 } from 'node:net';
import { TransportError } from './connection.ts';

const LONGEST = 2_000;

/** @throws TransportError `address-invalid` */
export function parseAddress(uri: string): URL {
  if (uri.length > LONGEST) throw new TransportError('address-invalid', `longer than ${LONGEST} characters`);
  const url = URL.parse(uri);
  if (!url || !/^[a-z][a-z0-9+.-]*:/i.test(uri)) {
    throw new TransportError('address-invalid', 'expected a URI such as socket://10.0.0.7:9100');
  }
  return url;
}

/**
 * Host and port of `scheme://host[:port]`, which has nothing else: no path, query or credentials.
 * @throws TransportError `address-invalid`
 */
export function hostAndPort(uri: URL, defaultPort: number): { host: string; port: number } {
  const refuse = (what: string): never => {
    throw new TransportError('address-invalid', `${what} in a ${uri.protocol}// address`);
  };
  if (uri.username !== '' || uri.password !== '') refuse('credentials are not allowed');
  if (uri.search !== '' || uri.hash !== '') refuse('a query or fragment is not allowed');
  if (uri.pathname !== '' && uri.pathname !== '/') refuse('a path is not allowed');
  const bracketed = /^\[(.+)\]$/.exec(uri.hostname)?.[1];
  const host = bracketed ?? uri.hostname;
  const valid = bracketed === undefined ? /^[a-z0-9_](?:[a-z0-9._-]{0,252})$/i.test(host) : isIPv6(bracketed);
  if (!valid) refuse('a valid host name or address is missing');
  const port = uri.port === '' ? defaultPort : Number(uri.port);
  if (port < 1) refuse('port 0 is not allowed');
  return { host, port };
}

/** A part of an address without its percent-encoding; empty if it is not percent-encoded. */
export function withoutPercents(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/** A host as it is written in a URI. */
export function inUri(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}

/** Whether the host is this computer, where only its own programs answer. @param hostname as `URL` has it */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/i.test(hostname);
}
