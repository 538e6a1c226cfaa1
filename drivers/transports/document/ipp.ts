/**
 * IPP printers and print servers' queues: `ipp://host[:631]/path`, `ipps://…`.
 *
 * Uses Create-Job and Send-Document, so that the job has its ID before the document is on its way. IPP Everywhere REQUIRES
 * both of printers (PWG 5100.14 §5.1), and CUPS has them. Printers do some things that this code allows for:
 * - They accept a document and abort it later. So only the job's state counts, never the answer to a request.
 * - They count job IDs from 1 again when they are switched on. So a job is identified by ID and name together.
 * - They list reasons of an earlier state in a later one (a completed job of CUPS is still `processing-to-stop-point`). So
 *   the state counts, not the reasons.
 * - They print two of everything by default (`copies-default`). So the number of copies is always sent.
 *
 * Source: RFC 8011 §4.2, §4.3, §5.3; PWG 5100.7 (media-col); CUPS Implementation of IPP.
 */
import { z } from 'zod';
import { languageId } from '../../../src/contract/format.ts';
import type { PrinterState } from '../../../src/contract/printer.ts';
import { isLoopback } from '../../address.ts';
import { TransportError, type TransportTimeouts } from '../../connection.ts';
import type { DeviceStatus } from '../../device.ts';
import { Authorization } from '../../ipp/authorization.ts';
import { IppClient, IppStatusError } from '../../ipp/client.ts';
import { type IppAttribute, type IppValue, numbersOf, stringsOf, valuesOf } from '../../ipp/message.ts';
import { JOB_STATES, PRINTER_STATES } from '../../ipp/names.ts';
import { printerReasons } from '../../ipp/reasons.ts';
import { SUPPLY_ATTRIBUTES, suppliesOf } from '../../ipp/supplies.ts';
import { BY_AUTHORITY, FirstUse } from '../../ipp/tls.ts';
import { LANGUAGES, printsPages } from '../../languages/index.ts';
import { plainText } from '../device-id.ts';
import {
  type DeviceAccess,
  type DocumentDescription,
  type DocumentPort,
  DocumentRefusal,
  type DocumentRequest,
  type DocumentTransport,
  type MediaSize,
  type PrinterJobPhase,
  type PrinterJobState,
} from './document.ts';
import { followsItsPrinter } from './followed-queue.ts';
import { FORMAT_ATTRIBUTES, formatsTaken, rasterTaken, resolution } from './ipp-formats.ts';

/** A printer may look at the whole document before it answers, ms. */
const DOCUMENT_REPLY = 30_000;
const MOST_MEDIA = 20;
/** The largest difference, mm, at which a size of the printer still counts as the wanted size. */
const TOLERANCE = 0.5;

const DESCRIPTION = [
  ...FORMAT_ATTRIBUTES,
  'printer-name',
  'printer-info',
  'printer-uuid',
  'device-uri',
  'printer-firmware-name',
  'media-col-default',
  'media-col-ready',
  'media-col-database',
  'media-col-supported',
  'print-scaling-supported',
  'sides-supported',
];
const STATUS = [
  'printer-state',
  'printer-state-reasons',
  'printer-impressions-completed',
  ...SUPPLY_ATTRIBUTES,
];
const JOB = [
  'job-id',
  'job-name',
  'job-state',
  'job-state-reasons',
  'job-impressions-completed',
  'number-of-documents',
  'time-at-processing',
];

const PHASES: ReadonlyMap<string | undefined, PrinterJobPhase> = new Map([
  ['pending', 'pending'],
  ['pending-held', 'held'],
  ['processing', 'processing'],
  ['processing-stopped', 'stopped'],
  ['completed', 'completed'],
  ['canceled', 'canceled'],
  ['aborted', 'aborted'],
]);

export const ippTransport: DocumentTransport = {
  scheme: 'ipp',
  takes: 'documents',
  encryptedAs: 'ipps',
  namesFormats: true,
  queueOf: ippQueue,
  dnsSd: { service: '_ipp._tcp', order: 1, address: (host, port, path) => `ipp://${host}:${port}/${path}` },
  open: (uri, timeouts, access) => new IppPort(uri, timeouts, access),
};

export const ippsTransport: DocumentTransport = {
  scheme: 'ipps',
  takes: 'documents',
  encrypted: true,
  namesFormats: true,
  queueOf: ippQueue,
  dnsSd: { service: '_ipps._tcp', order: 0, address: (host, port, path) => `ipps://${host}:${port}/${path}` },
  open: ippTransport.open,
};

/** `host/printers/name`: the same for the encrypted and the unencrypted address of a queue. */
export function ippQueue(uri: string): string {
  return uri.replace(/^ipps?:\/\//, '');
}

/** The job attributes that a printer understands. */
interface Abilities {
  /** Sizes that a job may name, because some printers refuse a job with another size. Empty: a job names no size. */
  media: MediaSize[];
  /** The attributes of `PLAIN` that the printer lists. */
  plain: IppAttribute[];
}

/**
 * Attributes that make the printer print pages as they were made. A page that is shrunk to fit its margins misses the labels of
 * the sheet, and the back of a sheet has no labels. If the printer lists these attributes, they are sent, because its defaults
 * may differ.
 */
const PLAIN = [
  ['print-scaling', 'none'],
  ['sides', 'one-sided'],
] as const;

class IppPort implements DocumentPort {
  readonly #questions: IppClient;
  readonly #documents: IppClient;
  readonly #firstUse = new FirstUse();
  /** What the last description of the printer said. */
  #abilities: Abilities = { media: [], plain: [] };

  constructor(uri: URL, timeouts: TransportTimeouts, access: DeviceAccess) {
    const { connect, write, query } = timeouts;
    const { user, password = '', ca, fingerprint256, inClear = false } = access;
    const vouched = () => [ca, fingerprint256].some(Boolean) || this.certificate === BY_AUTHORITY;
    const isSafe = () => isLoopback(uri.hostname) || (uri.protocol === 'ipps:' && vouched());
    const authorization =
      user === undefined ? undefined : new Authorization({ user, password, inClear }, isSafe);
    const tls =
      fingerprint256 !== undefined
        ? { fingerprint256 }
        : ca !== undefined
          ? { ca }
          : { firstUse: this.#firstUse };
    const options = (reply: number) => ({
      limits: { connect, write, reply },
      tls,
      ...(user !== undefined && { user }),
      ...(authorization !== undefined && { authorization }),
    });
    this.#questions = new IppClient(uri.href, options(query));
    this.#documents = new IppClient(uri.href, options(Math.max(query, DOCUMENT_REPLY)));
  }

  get certificate(): string | null {
    return this.#firstUse.shown;
  }

  async describe(signal: AbortSignal): Promise<DocumentDescription> {
    const said = await answered(this.#questions.getPrinterAttributes(signal, DESCRIPTION));
    this.#abilities = {
      media: stringsOf(said, 'media-col-supported').includes('media-size') ? mediaOf(said) : [],
      plain: PLAIN.filter(([name, value]) => stringsOf(said, `${name}-supported`).includes(value)).map(
        ([name, value]) => keyword(name, value),
      ),
    };
    return description(said);
  }

  async status(signal: AbortSignal): Promise<DeviceStatus> {
    const said = await answered(this.#questions.getPrinterAttributes(signal, STATUS));
    const state: PrinterState = PRINTER_STATES.get(numbersOf(said, 'printer-state')[0] ?? 0) ?? 'unknown';
    const reasons = printerReasons(stringsOf(said, 'printer-state-reasons'), state === 'stopped');
    const odometer = count(said, 'printer-impressions-completed');
    return { state, reasons, supplies: suppliesOf(said), labelsPending: null, odometer };
  }

  async create({ name, language, media }: DocumentRequest, signal: AbortSignal): Promise<string> {
    const near = (size: MediaSize) =>
      Math.abs(size.width - media.width) <= TOLERANCE && Math.abs(size.height - media.height) <= TOLERANCE;
    const pages = printsPages(language);
    const size = pages ? this.#abilities.media.find(near) : undefined;
    const attributes = [
      integer('copies', 1),
      // A label in a printer's language sets its own size, and the printer may refuse a size given here.
      ...(size === undefined ? [] : [mediaCol(size)]),
      ...(pages ? this.#abilities.plain : []),
    ];
    return String(await accepted(this.#questions.createJob({ name, attributes }, signal)));
  }

  async send(job: string, mediaType: string, document: Uint8Array, signal: AbortSignal): Promise<void> {
    const id = jobId(job);
    if (id === null) throw new TransportError('connection-lost', 'before the document');
    await accepted(this.#documents.sendDocument(id, mediaType, document, signal));
  }

  async jobState(job: string, signal: AbortSignal): Promise<PrinterJobState | null> {
    const id = jobId(job);
    if (id === null) return null;
    try {
      return stateOf(await this.#questions.getJobAttributes(id, signal, JOB));
    } catch (error) {
      if (error instanceof IppStatusError && GONE.has(error.statusName)) return null;
      throw asNoAnswer(error);
    }
  }

  async find(name: string, signal: AbortSignal): Promise<string[]> {
    const jobs = await answered(this.#questions.getJobs(signal, ['job-id', 'job-name']));
    return jobs
      .filter((job) => stringsOf(job, 'job-name')[0] === name)
      .flatMap((job) => numbersOf(job, 'job-id').map(String));
  }

  async cancel(job: string, signal: AbortSignal): Promise<void> {
    const id = jobId(job);
    if (id === null) return;
    try {
      await this.#questions.cancelJob(id, signal);
    } catch (error) {
      // The job has ended or is about to end. `jobState` shows how.
      if (!(error instanceof IppStatusError)) throw error;
    }
  }

  close(): void {
    this.#questions.close();
    this.#documents.close();
  }
}

const usableId = z.coerce.number().pipe(z.int32().min(1));

/** not-found, gone. */
const GONE: ReadonlySet<string> = new Set(['client-error-not-found', 'client-error-gone']);

/** Null: this is no ID of an IPP job. Another transport has made the printer's job; the journal does not say which one. */
function jobId(job: string): number | null {
  return usableId.safeParse(job).data ?? null;
}

async function answered<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw asNoAnswer(error);
  }
}

/** A printer that refuses even a query cannot be used: its queue is gone, or access to it is denied. */
function asNoAnswer(error: unknown): unknown {
  if (!(error instanceof IppStatusError)) return error;
  return new TransportError('device-unreachable', error.statusName, { cause: error });
}

async function accepted<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof IppStatusError)) throw error;
    throw new DocumentRefusal(error.statusName, error.retrySafe, { cause: error });
  }
}

function stateOf(said: readonly IppAttribute[]): PrinterJobState {
  const phase = PHASES.get(JOB_STATES.get(numbersOf(said, 'job-state')[0] ?? 0)) ?? 'unknown';
  const reasons = stringsOf(said, 'job-state-reasons');
  const waiting = phase === 'pending' || phase === 'held';
  const incoming = reasons.includes('job-incoming') || reasons.includes('job-data-insufficient');
  const without = waiting && count(said, 'number-of-documents') === 0;
  const processing = valuesOf(said, 'time-at-processing')[0];
  return {
    phase,
    reasons,
    name: stringsOf(said, 'job-name')[0] ?? null,
    impressions: count(said, 'job-impressions-completed'),
    incomplete: waiting && (incoming || without),
    began: processing === undefined ? null : processing.tag === 'integer' && processing.value !== 0,
  };
}

function description(said: readonly IppAttribute[]): DocumentDescription {
  const text = (name: string) => plainText(stringsOf(said, name)[0] ?? '').slice(0, 200) || undefined;
  const { languages, mediaTypes, queue } = formatsTaken(said);
  const typed = languageId.options.some((id) => LANGUAGES[id].rasterTypes !== undefined && id in mediaTypes);
  const raster = typed ? rasterTaken(said) : undefined;
  const makeAndModel = text('printer-make-and-model');
  const deviceId = stringsOf(said, 'printer-device-id')[0];
  const dpi = resolution(said);
  const uuid = stringsOf(said, 'printer-uuid')[0];
  const deviceUri = stringsOf(said, 'device-uri')[0];
  const name = text('printer-info') ?? text('printer-name');
  return {
    ...(deviceId !== undefined && { deviceId }),
    ...(uuid !== undefined && { uuid }),
    ...(deviceUri !== undefined && { deviceUri }),
    ...(makeAndModel !== undefined && { makeAndModel }),
    ...(name !== undefined && { name }),
    ...(dpi !== undefined && { dpi }),
    media: mediaOf(said).slice(0, MOST_MEDIA),
    languages,
    mediaTypes,
    ...(raster !== undefined && { raster }),
    spooler: spoolerOf(queue, said),
  };
}

/**
 * What stands between the agent and the printer: CUPS, or a printer application (PAPPL: LPrint and others). The `completed` of
 * a printer application says no more than that of a queue. LPrint 1.1 even completes documents that it has lost.
 */
function spoolerOf(
  queue: ReturnType<typeof formatsTaken>['queue'],
  said: readonly IppAttribute[],
): DocumentDescription['spooler'] {
  if (queue === 'none') {
    return stringsOf(said, 'printer-firmware-name').includes('PAPPL') ? 'delivers' : 'none';
  }
  return queue === 'raw' && followsItsPrinter(stringsOf(said, 'device-uri')[0]) ? 'follows' : 'delivers';
}

/** Media sizes that are a pair of numbers. Ranges (custom sizes) are left out. IPP counts in 1/100 mm. */
function mediaOf(said: readonly IppAttribute[]): MediaSize[] {
  const values = ['media-col-default', 'media-col-ready', 'media-col-database'].flatMap((name) =>
    valuesOf(said, name),
  );
  const sizes = values.flatMap((value): MediaSize[] => {
    if (value.tag !== 'collection') return [];
    const [size] = valuesOf(value.value, 'media-size');
    if (size?.tag !== 'collection') return [];
    const width = (numbersOf(size.value, 'x-dimension')[0] ?? 0) / 100;
    const height = (numbersOf(size.value, 'y-dimension')[0] ?? 0) / 100;
    return width > 0 && height > 0 && width <= 2_000 && height <= 2_000 ? [{ width, height }] : [];
  });
  const unique = new Map(sizes.map((size) => [`${size.width}x${size.height}`, size]));
  return [...unique.values()];
}

function count(said: readonly IppAttribute[], name: string): number | null {
  const value = numbersOf(said, name)[0];
  return value === undefined || value < 0 ? null : value;
}

function mediaCol({ width, height }: MediaSize): IppAttribute {
  const size: IppValue = {
    tag: 'collection',
    value: [
      integer('x-dimension', Math.round(width * 100)),
      integer('y-dimension', Math.round(height * 100)),
    ],
  };
  return {
    name: 'media-col',
    values: [{ tag: 'collection', value: [{ name: 'media-size', values: [size] }] }],
  };
}

function integer(name: string, value: number): IppAttribute {
  return { name, values: [{ tag: 'integer', value }] };
}

function keyword(name: string, value: string): IppAttribute {
  return { name, values: [{ tag: 'keyword', value }] };
}
