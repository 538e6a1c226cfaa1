/**
 * Printers that answer SNMP, at the addresses that the configuration names: who they are, and in which state.
 *
 * GETNEXT finds the first row of the printer tables; a device without such a row is no printer. GET then reads all variables of
 * the row at once. If a device of version 1 lacks one of the variables, it refuses them all and names the missing one; then it
 * is asked again without that variable. One socket serves all devices, and only so many devices are asked at the same time. A
 * device counts as absent after two attempts: the first in version 2c, the second in version 1 too. An answer counts only if it
 * comes from the address that was asked, and has the number of the question.
 *
 * Source: RFC 1213 (system), RFC 2790 (hrDevice, hrPrinter), RFC 3805 (Printer MIB).
 */

import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { z } from 'zod';
import type { DeviceState } from '../../../../../drivers/device.ts';
import { plainText } from '../../../../../drivers/transports/device-id.ts';
import { socketAddress } from '../../../../../drivers/transports/stream/tcp.ts';
import type { PrinterReason, PrinterState } from '../../../../contract/printer.ts';
import { pause } from '../../../pause.ts';
import { believableSerial, type Evidence, evidenceOfDeviceId, macOf } from '../../evidence.ts';
import { type DiscoveryProvider, providerKind, type Sighting } from '../../provider.ts';
import { targetNames, targetsOf } from '../targets.ts';
import { BerError } from './ber.ts';
import { decodeResponse, encodeRequest, type SnmpAnswer } from './snmp-message.ts';

export const snmp = providerKind({
  settings: {
    snmp: z
      .strictObject({ targets: targetNames, community: z.string().min(1).max(200).default('public') })
      .exactOptional(),
  },
  asked: (config) => (config.snmp === undefined ? [] : [snmpDiscovery(config.snmp)]),
});

interface SnmpOptions {
  /** Hosts and subnets; see `../targets.ts`. */
  targets: readonly string[];
  /** Works like a password, so it is never logged. */
  community?: string;
  port?: number;
  /** How long one answer is waited for, ms. */
  timeout?: number;
  /** How long one scan takes at most, ms; the next scan begins with the addresses that this one left. */
  limit?: number;
}

/** What one device said. `status` only changes what people are shown, never who the device is. */
interface SnmpPrinter {
  evidence: Evidence;
  /** sysName: what its administrator calls it. */
  name?: string;
  status: DeviceState;
}

const PORT = 161;
/** Devices asked at the same time. */
const AT_ONCE = 64;
/** The versions of each attempt, while the device's version is unknown. A device ignores versions that it does not speak. */
const ATTEMPTS: readonly (readonly SnmpAnswer['version'][])[] = [['v2c'], ['v2c', 'v1']];
/** How many times a question is asked when the device refuses it because of a variable that it lacks. */
const REFUSALS = 12;

/** Columns that only printers have rows in: hrPrinterStatus, prtGeneralSerialNumber. */
const PRINTER_COLUMNS = ['1.3.6.1.2.1.25.3.5.1.1', '1.3.6.1.2.1.43.5.1.1.17'];

/** `#` stands for the printer's row, which is the same in all printer tables (hrDeviceIndex). */
const VARIABLES = {
  description: '1.3.6.1.2.1.1.1.0',
  name: '1.3.6.1.2.1.1.5.0',
  model: '1.3.6.1.2.1.25.3.2.1.3.#',
  deviceStatus: '1.3.6.1.2.1.25.3.2.1.5.#',
  printerStatus: '1.3.6.1.2.1.25.3.5.1.1.#',
  errors: '1.3.6.1.2.1.25.3.5.1.2.#',
  serial: '1.3.6.1.2.1.43.5.1.1.17.#',
  /** ifPhysAddress of the first two interfaces. One of the two is often the loopback interface, which has no address. */
  mac1: '1.3.6.1.2.1.2.2.1.6.1',
  mac2: '1.3.6.1.2.1.2.2.1.6.2',
  /** PWG 5107.1 ppmPrinterIEEE1284DeviceId. */
  deviceId: '1.3.6.1.4.1.2699.1.2.1.2.1.1.3.1',
} as const;
type Variable = keyof typeof VARIABLES;
type Answer = Partial<Record<Variable, number | Buffer>>;

/** @throws RangeError if a target is no address or subnet, or if there are too many addresses */
export function snmpDiscovery(options: SnmpOptions): DiscoveryProvider {
  const { addresses, includes } = targetsOf(options.targets);
  /** By address: what was found there when it was last asked. */
  const known = new Map<string, Sighting>();
  let turn = 0;
  const find = async (signal: AbortSignal): Promise<Sighting[]> => {
    if (addresses.length === 0) return [];
    // Closed by hand: under Wine the tests run Node 22, which has no `await using` yet.
    const client = new SnmpClient(options, includes);
    try {
      await client.start(signal);
      const until = performance.now() + (options.limit ?? 5_000);
      let left = addresses.length;
      const next = async () => {
        // Each of these loops asks at least one address. So every address has its turn, however short the time is.
        for (let more = true; more && left > 0; more = performance.now() < until) {
          left -= 1;
          const address = addresses[turn % addresses.length] ?? '';
          turn += 1;
          const printer = await client.printerAt(address, signal);
          known.delete(address);
          if (printer === undefined) continue;
          const { name, evidence, status } = printer;
          const uri = socketAddress(address);
          known.set(address, { uri, ...(name !== undefined && { name }), evidence, status });
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, next));
      return [...known.values()];
    } finally {
      await client.close();
    }
  };
  return {
    id: 'snmp',
    exhaustive: false,
    find,
  };
}

export class SnmpClient {
  readonly #options: SnmpOptions;
  readonly #includes: (address: string) => boolean;
  readonly #socket: Socket = createSocket('udp4');
  readonly #waiting = new Map<number, { address: string; heard(response: SnmpAnswer): void }>();
  #id = Math.floor(Math.random() * 0x3fffffff);

  /** @param includes whether an address may be asked */
  constructor(options: SnmpOptions, includes: (address: string) => boolean) {
    this.#options = options;
    this.#includes = includes;
  }

  async start(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.#socket.on('error', () => undefined);
    this.#socket.on('message', (bytes, { address, port }) => {
      if (port === (this.#options.port ?? PORT)) this.#heard(bytes, address);
    });
    this.#socket.bind(0);
    await once(this.#socket, 'listening', { signal });
  }

  async close(): Promise<void> {
    await new Promise<void>((done) => void this.#socket.close(() => done()));
  }

  /**
   * Undefined: nobody answers at the address, or the device there is no printer.
   * @throws the signal's reason; RangeError for an address that the configuration does not name
   */
  async printerAt(address: string, signal: AbortSignal): Promise<SnmpPrinter | undefined> {
    if (!this.#includes(address)) throw new RangeError('an address that the configuration does not name');
    const rows = await this.#ask(address, 'getNext', PRINTER_COLUMNS, signal);
    const row = rows.variables.flatMap(({ oid, value }) => {
      const column = PRINTER_COLUMNS.find((one) => oid.startsWith(`${one}.`));
      const row = oid.slice((column?.length ?? 0) + 1);
      return column !== undefined && value !== null && /^\d{1,10}$/.test(row) ? [row] : [];
    })[0];
    if (row === undefined) return undefined;
    const oids = Object.entries(VARIABLES).map(([key, oid]) => [key, oid.replace('#', row)] as const);
    const told = await this.#ask(
      address,
      'get',
      oids.map(([, oid]) => oid),
      signal,
      rows.version,
    );
    const values = new Map(told.variables.map(({ oid, value }) => [oid, value]));
    return printerOf(
      Object.fromEntries(
        oids.flatMap(([key, oid]) => {
          const value = values.get(oid);
          return value === undefined || value === null ? [] : [[key, value]];
        }),
      ),
    );
  }

  /**
   * The variables that the device has, and the version that it speaks. No variables if the device does not answer.
   * @param spoken the device's version, if known
   */
  async #ask(
    address: string,
    pdu: 'get' | 'getNext',
    oids: string[],
    signal: AbortSignal,
    spoken?: SnmpAnswer['version'],
  ): Promise<{ variables: SnmpAnswer['variables']; version: SnmpAnswer['version'] | undefined }> {
    let asked = oids;
    let version = spoken;
    for (let refusals = 0; refusals < REFUSALS && asked.length > 0; refusals += 1) {
      const response = await this.#exchange(address, version, pdu, asked, signal);
      if (response === undefined) break;
      version = response.version;
      if (response.error === 0) return { variables: response.variables, version };
      // Version 1 (RFC 1157 §4.1.2): if a variable is missing, the answer names it and has no values.
      const { index } = response;
      asked = asked.filter((_, place) => index > 0 && place !== index - 1);
    }
    return { variables: [], version };
  }

  async #exchange(
    address: string,
    version: SnmpAnswer['version'] | undefined,
    pdu: 'get' | 'getNext',
    oids: string[],
    signal: AbortSignal,
  ): Promise<SnmpAnswer | undefined> {
    const { community = 'public', port = PORT, timeout = 600 } = this.#options;
    const id = this.#nextId();
    const answered = new AbortController();
    let response: SnmpAnswer | undefined;
    this.#waiting.set(id, {
      address,
      heard: (heard) => {
        response = heard;
        answered.abort();
      },
    });
    try {
      for (const versions of ATTEMPTS) {
        for (const one of version === undefined ? versions : [version]) {
          const request = encodeRequest(one, community, id, pdu, oids);
          this.#socket.send(request, port, address, () => undefined);
        }
        await pause(timeout, signal, answered.signal);
        signal.throwIfAborted();
        if (response !== undefined) break;
      }
      return response;
    } finally {
      this.#waiting.delete(id);
    }
  }

  #nextId(): number {
    this.#id = this.#id >= 0x7ffffffe ? 1 : this.#id + 1;
    return this.#id;
  }

  #heard(bytes: Uint8Array, address: string): void {
    try {
      const isAwaited = (id: number) => this.#waiting.get(id)?.address === address;
      const response = decodeResponse(bytes, isAwaited);
      if (response !== undefined) this.#waiting.get(response.id)?.heard(response);
    } catch (error) {
      if (!(error instanceof BerError)) throw error;
    }
  }
}

function printerOf(answer: Answer): SnmpPrinter {
  const said = evidenceOfDeviceId(textOf(answer.deviceId) ?? '');
  const model = said.model ?? textOf(answer.model) ?? textOf(answer.description);
  const serial = believableSerial(textOf(answer.serial)) ?? said.serial;
  const mac = [answer.mac1, answer.mac2].flatMap((bytes) =>
    Buffer.isBuffer(bytes) ? (macOf(bytes) ?? []) : [],
  )[0];
  const name = textOf(answer.name);
  return {
    ...(name !== undefined && { name }),
    evidence: {
      ...said,
      ...(model !== undefined && { model }),
      ...(serial !== undefined && { serial }),
      ...(mac !== undefined && { mac }),
    },
    status: statusOf(answer),
  };
}

function textOf(value: Answer[Variable]): string | undefined {
  if (!Buffer.isBuffer(value)) return undefined;
  return plainText(value.toString('utf8').slice(0, 4_096)).slice(0, 200).trim() || undefined;
}

/** hrPrinterStatus (RFC 2790): other(1), unknown(2), idle(3), printing(4), warmup(5). */
const STATES: ReadonlyMap<unknown, PrinterState> = new Map<unknown, PrinterState>([
  [3, 'idle'],
  [4, 'processing'],
  [5, 'processing'],
]);
/** hrDeviceStatus: unknown(1), running(2), warning(3), testing(4), down(5). */
const DOWN = 5;

/** hrPrinterDetectedErrorState: bit 0 is the highest of the first byte. Low toner and service requests stop no printer. */
const ERROR_BITS: readonly { bit: number; reason: PrinterReason; stops: boolean }[] = [
  { bit: 0, reason: 'media-low', stops: false },
  { bit: 1, reason: 'media-empty', stops: true },
  { bit: 3, reason: 'marker-supply-empty', stops: true },
  { bit: 4, reason: 'cover-open', stops: true },
  { bit: 5, reason: 'media-jam', stops: true },
  { bit: 6, reason: 'offline', stops: true },
  { bit: 7, reason: 'other', stops: false },
  { bit: 8, reason: 'other', stops: false },
  { bit: 9, reason: 'other', stops: false },
  { bit: 10, reason: 'marker-supply-empty', stops: true },
  { bit: 12, reason: 'output-area-full', stops: true },
  // inputTrayEmpty: one tray of several. If nothing can be printed, the printer says `noPaper` (bit 1).
  { bit: 13, reason: 'media-low', stops: false },
];

/** The printer's state in IPP's terms; `unknown` if the printer does not tell it. */
function statusOf(answer: Answer): SnmpPrinter['status'] {
  const { errors } = answer;
  const set = (bit: number) =>
    Buffer.isBuffer(errors) && (((errors[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1) === 1;
  const wrong = ERROR_BITS.filter(({ bit }) => set(bit));
  const stopped = wrong.some(({ stops }) => stops) || answer.deviceStatus === DOWN;
  return {
    state: stopped ? 'stopped' : (STATES.get(answer.printerStatus) ?? 'unknown'),
    reasons: [...new Set(wrong.map(({ reason }) => reason))],
  };
}
