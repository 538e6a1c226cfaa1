/**
 * The queues of a CUPS server, by IPP (CUPS-Get-Printers).
 *
 * A queue leads to a printer but is not the printer. Its `printer-uuid` is the queue's own, and changes when the queue is
 * deleted and added again. Two attributes say which device is behind the queue: `device-uri`, with the serial number or UUID
 * that the backend found, and `printer-device-id`. A raw queue has nothing but the address.
 *
 * Formats: CUPS lists what it can convert from; for a raw queue this is everything that CUPS has ever heard of, whether or not
 * the device can print it. So the languages come from the device ID, or from make and model. Only languages that CUPS itself
 * converts to what the device takes, like PDF, come from the formats, and only if the queue has a driver.
 * Source: CUPS Implementation of IPP; RFC 8011 §5.4; PWG 5100.13 (printer-device-id, printer-uuid).
 */

import { z } from 'zod';
import { TransportError } from '../../../../drivers/connection.ts';
import { IppClient } from '../../../../drivers/ipp/client.ts';
import { type IppAttribute, stringsOf } from '../../../../drivers/ipp/message.ts';
import { CONVERTIBLE } from '../../../../drivers/languages/index.ts';
import { plainText } from '../../../../drivers/transports/device-id.ts';
import { ippQueue } from '../../../../drivers/transports/document/ipp.ts';
import { type Evidence, evidenceOfDeviceId, evidenceOfDeviceUri, languagesOf, uuidOf } from '../evidence.ts';
import { type DiscoveryProvider, providerKind, type Sighting } from '../provider.ts';

const SERVER = 'expected true, false or an address like ipp://server:631/, without a password';
const cupsServer = z.url({ protocol: /^ipps?$/, error: SERVER }).regex(/^[^@]*$/, { error: SERVER });

export const cups = providerKind({
  settings: {
    /** Queues of CUPS servers: this machine's, or the named ones. */
    cups: z.union([z.boolean(), cupsServer, z.array(cupsServer).min(1).max(20)]).default(false),
  },
  asked: ({ cups }) => {
    if (typeof cups === 'boolean') return cups ? [cupsDiscovery()] : [];
    return [...new Set([cups].flat())].map((server, place) =>
      cupsDiscovery({ server, ...(place > 0 && { id: `cups ${server}` }) }),
    );
  },
});

interface CupsDiscoveryOptions {
  /** The ID of this provider, in case there are several. */
  id?: string;
  /** `ipp://localhost:631/`, or `ipps:`. */
  server?: string;
  /** How long the server may take to connect, to read and to answer, ms each. */
  timeout?: number;
}

/** This machine's own server. */
export const LOCAL_CUPS = 'ipp://localhost:631/';
const ATTRIBUTES = [
  'printer-name',
  'printer-info',
  'printer-uuid',
  'printer-uri-supported',
  'printer-make-and-model',
  'printer-device-id',
  'device-uri',
  'document-format-supported',
];
const RAW_QUEUE = 'Local Raw Printer';
const MOST_QUEUES = 5_000;

export function cupsDiscovery(options: CupsDiscoveryOptions = {}): DiscoveryProvider {
  const { id = 'cups', server = LOCAL_CUPS, timeout = 2_500 } = options;
  const find = async (signal: AbortSignal): Promise<Sighting[]> => {
    const client = new IppClient(server, { limits: { connect: timeout, write: timeout, reply: timeout } });
    try {
      const queues = await client.cupsGetPrinters(signal, ATTRIBUTES);
      return queues.slice(0, MOST_QUEUES).flatMap((queue) => sightingOf(server, queue));
    } catch (error) {
      // There is no CUPS at this address, so there are no queues. A warning at each scan would be too much.
      if (error instanceof TransportError && error.code === 'device-unreachable') return [];
      throw error;
    } finally {
      client.close();
    }
  };
  return {
    id,
    // The list is complete, but a deleted queue may be added again. Until then its printer is offline, and dropped in the end.
    exhaustive: false,
    near: true,
    find,
  };
}

function sightingOf(server: string, queue: readonly IppAttribute[]): Sighting[] {
  const text = (name: string) =>
    plainText(stringsOf(queue, name)[0] ?? '')
      .slice(0, 200)
      .trim() || undefined;
  const queueName = text('printer-name');
  if (queueName === undefined) return [];
  const uri = addressOf(server, queueName);
  if (uri.length > 500) return [];
  const makeAndModel = text('printer-make-and-model');
  const raw = makeAndModel === undefined || makeAndModel === RAW_QUEUE;
  const said = evidenceOfDeviceId(stringsOf(queue, 'printer-device-id')[0] ?? '');
  const deviceUri = (stringsOf(queue, 'device-uri')[0] ?? '').trim();
  const device = evidenceOfDeviceUri(deviceUri);
  const uuid = device.uuid ?? uuidOf(stringsOf(queue, 'printer-uuid')[0]);
  const listed = raw ? [] : languagesOf(stringsOf(queue, 'document-format-supported'));
  const converted = CONVERTIBLE.filter((one) => listed.includes(one));
  const languages = [...new Set([...(said.languages ?? []), ...converted])];
  const model = said.model ?? (raw ? undefined : makeAndModel);
  const evidence: Evidence = {
    ...said,
    ...device,
    ...(model !== undefined && { model }),
    ...(uuid !== undefined && { uuid }),
    ...(languages.length > 0 && { languages }),
    queue: ippQueue(uri),
  };
  return [{ uri, name: text('printer-info') ?? queueName, evidence }];
}

/** Made from the address of the server that was asked: the server's own URI may have a name that only the server knows. */
function addressOf(server: string, queueName: string): string {
  return `${server.replace(/\/$/, '')}/printers/${encodeURIComponent(queueName)}`;
}
