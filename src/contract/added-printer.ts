/**
 * Printers that people add by their address: GET|POST /app/printers/addresses, DELETE /app/printers/addresses/{id}. An agent
 * drives them beside those of its configuration, whose entry wins.
 */
import { z } from 'zod';
import { languageId } from './format.ts';
import { givenText } from './given-text.ts';
import { saying } from './reason.ts';
import { agentId } from './report.ts';

/** Those whose addresses are in a network. An agent's own files, devices and queues are named in its configuration alone. */
const SCHEMES = ['socket:', 'ipp:', 'ipps:', 'lpd:'];
/** The port of raw printing, which people leave out. */
const RAW = 9100;
/** Characters of a host (RFC 1035, section 2.3.4). */
const MOST_HOST = 253;

/**
 * The URI of an address as people write it: `10.0.0.5`, `printer.local:9100`, `ipp://printer.local/ipp/print`. A host has one
 * form, since `127.1` is an address, too. Undefined: it is none.
 */
export function printerUri(text: string): string | undefined {
  const url = URL.parse(text.includes('://') ? text : `socket://${text}`);
  if (url === null || !SCHEMES.includes(url.protocol)) return undefined;
  const { protocol, username, password, search, hash, port, pathname } = url;
  if (`${username}${password}${search}${hash}` !== '' || port === '0') return undefined;
  const host = URL.parse(`http://${url.hostname}`)?.hostname ?? '';
  if (host.length > MOST_HOST || !/^(?:[a-z0-9_][a-z0-9._-]*|\[[0-9a-f:.]+\])$/.test(host)) return undefined;
  const path = pathname === '/' ? '' : pathname;
  if (protocol === 'socket:') return path === '' ? `socket://${host}:${port || RAW}` : undefined;
  return `${protocol}//${host}${port === '' ? '' : `:${port}`}${path}`;
}

/** Whether the address is the agent's own computer or its link, where other programs than printers answer. @param uri of `printerUri` */
export function isOwnComputer(uri: string): boolean {
  const { hostname } = new URL(uri);
  return /^(?:(?:.*\.)?localhost\.?|(?:0|127)(?:\.\d+){3}|169\.254(?:\.\d+){2}|\[::.*|\[fe[89ab].*)$/.test(
    hostname,
  );
}

const millimetres = z.number().positive().max(2_000);

/** What an agent is told of a printer. What the device does not say of itself is said here. */
export const addedPrinter = z.strictObject({
  uri: z.string().max(500),
  name: givenText.trim().min(1).max(200).exactOptional(),
  language: languageId.exactOptional(),
  dpi: z.number().min(50).max(2_400).exactOptional(),
  /** Of the media, mm. */
  width: millimetres.exactOptional(),
  height: millimetres.exactOptional(),
});
export type AddedPrinter = z.infer<typeof addedPrinter>;

const { uri: _, ...said } = addedPrinter.shape;
export const printerAdd = z.strictObject({
  agent: agentId,
  address: z
    .string()
    .trim()
    .max(400)
    .refine((text) => printerUri(text) !== undefined, { error: saying('printer-address', {}) }),
  ...said,
});

export const addedPrinterView = z.object({
  id: z.string(),
  agent: z.object({ id: z.string(), name: z.string(), online: z.boolean() }),
  uri: z.string(),
  name: z.string().nullable(),
  by: z.string(),
  at: z.iso.datetime(),
  /** The printer that was found there; null: none yet. */
  printer: z.object({ id: z.string(), name: z.string() }).nullable(),
  /** Why the agent has never reached it; null: it has, or has not tried yet. */
  why: z.string().nullable(),
});
export type AddedPrinterView = z.infer<typeof addedPrinterView>;
