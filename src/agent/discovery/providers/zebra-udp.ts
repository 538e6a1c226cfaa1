/**
 * Zebra's own discovery: a printer answers six bytes to UDP port 4201 with who it is.
 *
 * Zebra does not publish the answer's layout. Two independent sources agree on what is used here: jfr.im, "Zebra network
 * discovery protocol", with the dump that the tests use; and the fields that Zebra's Android print service reads. An answer of
 * version 3 has fixed offsets, and texts filled up with NUL. From an answer of any other version only the sender's address is
 * taken. Nothing was tried on hardware.
 *
 * If the network card is a print server (`ZebraNet … PS`), the serial number is the card's and not the printer's. Then it is
 * left out. The printer's address is the sender of the datagram: an address inside the answer may be old, or a lie.
 */

import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { z } from 'zod';
import { plainText } from '../../../../drivers/transports/device-id.ts';
import { socketAddress } from '../../../../drivers/transports/stream/tcp.ts';
import { pause } from '../../pause.ts';
import { believableSerial, type Evidence, macOf } from '../evidence.ts';
import { nameOf } from '../fingerprints.ts';
import { type DiscoveryProvider, providerKind, type Sighting } from '../provider.ts';
import { targetNames, targetsOf } from './targets.ts';

export const zebra = providerKind({
  settings: {
    /** Zebra's own discovery, UDP 4201. */
    zebra: z.strictObject({ targets: targetNames }).exactOptional(),
  },
  asked: (config) => (config.zebra === undefined ? [] : [zebraDiscovery(config.zebra)]),
});

interface ZebraDiscoveryOptions {
  /** Hosts, broadcast addresses and subnets; see `targets.ts`. */
  targets: readonly string[];
  port?: number;
  /** How long answers are waited for, ms. */
  timeout?: number;
}

const QUESTION = Buffer.from([0x2e, 0x2c, 0x3a, 0x01, 0x00, 0x00]);
const ANSWER = Buffer.from([0x3a, 0x2c, 0x2e]);
const PORT = 4201;
/** Questions in one go, and the pause after them, ms. This makes at most 1,000 questions a second. */
const BURST = 10;
const BURST_PAUSE = 10;
/** UDP loses packets, so a printer that has not answered is asked twice. */
const ROUNDS = 2;
const MOST_FOUND = 2_000;

/** Offset and length of the known fields in an answer of version 3. */
const LAYOUT = {
  product: [12, 20],
  mac: [54, 6],
  serial: [60, 10],
  systemName: [84, 25],
} as const;
const KNOWN_VERSION = 3;

interface ZebraAnswer {
  product?: string;
  serial?: string;
  mac?: string;
  systemName?: string;
}

/** Undefined: these bytes are no answer to Zebra's discovery. Never throws; fields that were cut off are left out. */
export function parseZebraAnswer(bytes: Uint8Array): ZebraAnswer | undefined {
  const answer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!answer.subarray(0, ANSWER.length).equals(ANSWER)) return undefined;
  if (answer[ANSWER.length] !== KNOWN_VERSION) return {};
  const field = ([offset, length]: readonly [number, number]) => answer.subarray(offset, offset + length);
  const text = (place: readonly [number, number]) => {
    const [value = ''] = field(place).toString('latin1').split('\0');
    return plainText(value) || undefined;
  };
  const product = text(LAYOUT.product);
  const systemName = text(LAYOUT.systemName);
  const mac = macOf(field(LAYOUT.mac));
  const printServer = product === undefined || /zebranet|\bps\b|print ?server/i.test(product);
  const serial = printServer ? undefined : believableSerial(text(LAYOUT.serial));
  return {
    ...(product !== undefined && { product }),
    ...(serial !== undefined && { serial }),
    ...(mac !== undefined && { mac }),
    ...(systemName !== undefined && { systemName }),
  };
}

/** @throws RangeError if a target is no address or subnet, or if there are too many addresses */
export function zebraDiscovery(options: ZebraDiscoveryOptions): DiscoveryProvider {
  const targets = targetsOf(options.targets);
  return { id: 'zebra-udp', exhaustive: false, find: (signal) => findZebras(targets, options, signal) };
}

async function findZebras(
  targets: ReturnType<typeof targetsOf>,
  { port = PORT, timeout = 1_500 }: ZebraDiscoveryOptions,
  signal: AbortSignal,
): Promise<Sighting[]> {
  if (targets.addresses.length === 0) return [];
  signal.throwIfAborted();
  const found = new Map<string, Sighting>();
  const socket = createSocket('udp4');
  // In a network that cannot be reached nobody answers. That is no reason to stop asking the other targets.
  socket.on('error', () => undefined);
  socket.on('message', (bytes, { address }) => {
    if (found.size >= MOST_FOUND || found.has(address) || !targets.includes(address)) return;
    const answer = parseZebraAnswer(bytes);
    if (answer !== undefined) found.set(address, sightingOf(address, answer));
  });
  try {
    socket.bind(0);
    await once(socket, 'listening', { signal });
    socket.setBroadcast(true);
    for (let round = 0; round < ROUNDS; round += 1) {
      const missing = targets.addresses.filter((address) => !found.has(address));
      await ask(socket, missing, port, signal);
      const all = targets.addresses.every((address) => found.has(address));
      if (!all) await pause(timeout / ROUNDS, signal);
      signal.throwIfAborted();
    }
  } finally {
    socket.close();
  }
  return [...found.values()];
}

async function ask(socket: Socket, addresses: string[], port: number, signal: AbortSignal): Promise<void> {
  for (let at = 0; at < addresses.length; at += BURST) {
    for (const address of addresses.slice(at, at + BURST)) {
      socket.send(QUESTION, port, address, () => undefined);
    }
    await pause(BURST_PAUSE, signal);
    signal.throwIfAborted();
  }
}

function sightingOf(address: string, { product, serial, mac, systemName }: ZebraAnswer): Sighting {
  const evidence: Evidence = {
    make: 'Zebra',
    ...(product !== undefined && { model: product }),
    ...(serial !== undefined && { serial }),
    ...(mac !== undefined && { mac }),
  };
  return {
    uri: socketAddress(address),
    name: systemName ?? nameOf('Zebra', product),
    evidence,
  };
}
