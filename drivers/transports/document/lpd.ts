/**
 * LPD print servers and printers: `lpd://host[:515]/queue`, RFC 1179.
 *
 * Each job has one connection. It carries the request for the queue, then the control file, then the data file, whose size is
 * known. The server acknowledges each step with a zero octet. The limits of the protocol shape the rest:
 *
 *   create   connects, asks the queue to take a job, and sends the control file: there is nothing to print yet
 *   send     sends the data file on the same connection. The last acknowledgement only says that the server has the
 *            file: a print server has spooled it, a printer may have it in memory
 *   state    the server cannot be asked later. So a job's state is what happened to its connection. If the file was
 *            acknowledged: `completed` (delivered, as by any queue). If the connection was lost before the first byte
 *            of the data file: `aborted`, not begun. If it was lost after that: unknown, because small servers print
 *            data as it comes, so even an incomplete file may have printed something
 *
 * These outcomes are kept in memory (`device-jobs.ts`). After a crash nothing is known of a job.
 *
 * The control file goes first, so that a server that prints while it reads knows the job's format; `l` in it says that the data
 * goes to the printer as it is. RFC 1179 §3.1 wants a source port from 721 to 731, which only the administrator may use. Most
 * servers do not require this, and those that do must be configured not to.
 */
import { randomInt } from 'node:crypto';
import { hostname } from 'node:os';
import { languageId } from '../../../src/contract/format.ts';
import { hostAndPort, inUri, withoutPercents } from '../../address.ts';
import { type Connection, TransportError, type TransportTimeouts } from '../../connection.ts';
import type { DeviceStatus } from '../../device.ts';
import { socketAddress, tcpTransport } from '../stream/tcp.ts';
import { DeviceJobs } from './device-jobs.ts';
import {
  type DocumentDescription,
  type DocumentPort,
  DocumentRefusal,
  type DocumentRequest,
  type DocumentTransport,
  type PrinterJobState,
} from './document.ts';

const DEFAULT_PORT = 515;
const ANY = 'application/octet-stream';
const RECEIVE_JOB = 2;
const CONTROL_FILE = 2;
const DATA_FILE = 3;
const END_OF_FILE = Uint8Array.of(0);
/** A server may store the whole data file before it acknowledges it, ms. */
const STORED = 30_000;

const outcomes = new DeviceJobs();

export const lpdTransport: DocumentTransport = {
  scheme: 'lpd',
  takes: 'documents',
  dnsSd: {
    service: '_printer._tcp',
    order: 3,
    // Without the TXT key `rp`, the queue's name is `auto` (Bonjour Printing Specification 1.2.1).
    address: (host, port, queue) => `lpd://${host}:${port}/${queue || 'auto'}`,
  },
  open: (uri, timeouts) => new LpdPort(uri, timeouts),
};

class LpdPort implements DocumentPort {
  readonly #address: URL;
  readonly #queue: string;
  readonly #timeouts: TransportTimeouts;
  readonly #open = new Map<string, Connection>();
  #number = randomInt(1_000);

  constructor(uri: URL, timeouts: TransportTimeouts) {
    this.#queue = queueOf(uri);
    const place = new URL(uri);
    place.pathname = '';
    const { host, port } = hostAndPort(place, DEFAULT_PORT);
    this.#address = new URL(socketAddress(inUri(host), port));
    this.#timeouts = timeouts;
  }

  async describe(signal: AbortSignal): Promise<DocumentDescription> {
    await this.status(signal);
    const mediaTypes = Object.fromEntries(languageId.options.map((language) => [language, ANY]));
    return { media: [], languages: [], mediaTypes, spooler: 'delivers' };
  }

  /** Only tests the connection. The status that LPD offers is a text for people, and differs from server to server. */
  async status(signal: AbortSignal): Promise<DeviceStatus> {
    const connection = await this.#connect(signal);
    await connection.close();
    return { state: 'unknown', reasons: [], labelsPending: null, odometer: null };
  }

  async create({ name }: DocumentRequest, signal: AbortSignal): Promise<string> {
    const connection = await this.#connect(signal);
    try {
      await acknowledged(connection, command(RECEIVE_JOB, this.#queue), this.#timeouts.query, signal);
      this.#number = (this.#number + 1) % 1_000;
      const number = String(this.#number).padStart(3, '0');
      const control = controlFile(number, name);
      const header = command(CONTROL_FILE, `${control.length} cfA${number}${HOST}`);
      await acknowledged(connection, header, this.#timeouts.query, signal);
      await acknowledged(connection, Buffer.concat([control, END_OF_FILE]), this.#timeouts.query, signal);
      // Job numbers are used again, but the document's name is not. So the job's ID has both.
      const job = `${number} ${name}`;
      this.#open.set(job, connection);
      outcomes.set(job, 'open');
      return job;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  async send(job: string, _mediaType: string, document: Uint8Array, signal: AbortSignal): Promise<void> {
    const connection = this.#open.get(job);
    if (connection === undefined) throw new TransportError('connection-lost', 'before the data file');
    try {
      const header = command(DATA_FILE, `${document.length} dfA${job.slice(0, 3)}${HOST}`);
      await acknowledged(connection, header, this.#timeouts.query, signal);
      outcomes.set(job, 'sending');
      await connection.write(document, signal);
      await acknowledged(connection, END_OF_FILE, Math.max(STORED, this.#timeouts.query), signal);
      outcomes.set(job, 'delivered');
    } catch (error) {
      // The server has refused the file after it had the data. Nobody knows what it does with the data.
      if (error instanceof DocumentRefusal && outcomes.get(job) === 'sending') {
        throw new TransportError('connection-lost', 'the server did not take the data file', {
          cause: error,
        });
      }
      throw error;
    } finally {
      this.#open.delete(job);
      await connection.close();
    }
  }

  jobState(job: string): Promise<PrinterJobState | null> {
    return Promise.resolve(outcomes.state(job, job.slice(4), this.#open.has(job)));
  }

  /** A server cannot be asked for a job by its name. A job without its data file ends with its connection. */
  find(): Promise<string[]> {
    return Promise.resolve([]);
  }

  async cancel(job: string): Promise<void> {
    if (outcomes.get(job) !== 'open') return;
    outcomes.set(job, 'given up');
    await this.#open.get(job)?.close();
    this.#open.delete(job);
  }

  close(): void {
    for (const connection of this.#open.values()) void connection.close();
    this.#open.clear();
  }

  #connect(signal: AbortSignal): Promise<Connection> {
    return tcpTransport.open(this.#address, this.#timeouts, signal);
  }
}

/** @throws TransportError `address-invalid` */
function queueOf(uri: URL): string {
  const [, text = ''] = /^\/([^/]+)\/?$/.exec(uri.pathname) ?? [];
  const queue = withoutPercents(text);
  if (!/^[\x21-\x7e]{1,127}$/.test(queue)) {
    throw new TransportError('address-invalid', 'expected lpd://host/queue, a queue of printable ASCII');
  }
  return queue;
}

/** RFC 1179 §7.2: at most 31 octets. */
const HOST =
  hostname()
    .replace(/[^A-Za-z0-9.-]/g, '')
    .slice(0, 31) || 'platen';

/** RFC 1179 §7: who prints, what is printed, and `l`, which says that the data file is printed as it is. */
function controlFile(number: string, name: string): Buffer {
  const title = name.replace(/[^\x20-\x7e]/g, '?').slice(0, 99);
  const data = `dfA${number}${HOST}`;
  return Buffer.from(
    [`H${HOST}`, 'Pplaten', `J${title}`, `l${data}`, `U${data}`, `N${title}`, ''].join('\n'),
  );
}

function command(code: number, operand: string): Buffer {
  return Buffer.concat([Uint8Array.of(code), Buffer.from(`${operand}\n`)]);
}

/**
 * Sends `bytes` and waits for the zero octet.
 * @throws TransportError; DocumentRefusal for any other octet, to which the RFC gives no further meaning
 */
async function acknowledged(
  connection: Connection,
  bytes: Uint8Array,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  const [octet] = await connection.query(bytes, (reply) => reply.length > 0, { timeoutMs, signal });
  if (octet !== 0) throw new DocumentRefusal(`lpd-answer-${octet}`, true);
}
