/**
 * Printers of the Windows spooler, by name: `winspool:Zebra%20ZD421`. Documents go to the printer as they are (datatype RAW);
 * the driver draws nothing.
 *
 * The spooler gives a job its ID before its first byte (`StartDocPrinter`), tells its state (`GetJob`), and forgets it once its
 * bytes are with the device. So if this process has sent a job and the job is gone, it was delivered, unless it was seen being
 * deleted. If another process's job is gone, its outcome is unknown. Like every queue, a spooler can only say that a job was
 * delivered (see `confirmation.ts`).
 *
 * A handle is open between `create` and the end of `send`, and during each query. Every handle is closed; if a call on it
 * hangs, it is closed once the call returns.
 *
 * Source: Microsoft, Print Spooler API: JOB_INFO_1, PRINTER_INFO_2 (status flags), StartDocPrinter, WritePrinter.
 */
import { languageId } from '../../../src/contract/format.ts';
import type { PrinterReason } from '../../../src/contract/printer.ts';
import { withoutPercents } from '../../address.ts';
import { TransportError, type TransportTimeouts } from '../../connection.ts';
import type { DeviceState, DeviceStatus } from '../../device.ts';
import { plainText } from '../device-id.ts';
import { orAborted, within } from '../pauses.ts';
import { DeviceJobs } from './device-jobs.ts';
import {
  type DocumentDescription,
  type DocumentPort,
  DocumentRefusal,
  type DocumentRequest,
  type DocumentTransport,
  type PrinterJobState,
} from './document.ts';
import { openPrinter, type PrinterHandle, type PrinterInfo } from './winspool-api.ts';
import { addressOfPort } from './winspool-ports.ts';

/** Bytes handed over at once. */
const PIECE = 64 * 1024;
/** How long `EndDocPrinter` may take, ms: it may itself send the rest to the device. */
const END = 30_000;

const outcomes = new DeviceJobs();

export const winspoolTransport: DocumentTransport = {
  scheme: 'winspool',
  takes: 'documents',
  ofThisComputer: true,
  open: (uri, timeouts) => new WinspoolPort(uri, timeouts),
};

class WinspoolPort implements DocumentPort {
  readonly #name: string;
  readonly #timeouts: TransportTimeouts;
  /** Jobs whose document is still to come. */
  readonly #open = new Map<string, { handle: PrinterHandle; id: number }>();

  constructor(uri: URL, timeouts: TransportTimeouts) {
    this.#name = printerName(uri);
    this.#timeouts = timeouts;
  }

  async describe(signal: AbortSignal): Promise<DocumentDescription> {
    const { pDriverName, pPrinterName, pPortName } = await this.#info(signal);
    const deviceUri = await this.#bounded(addressOfPort(pPortName ?? ''), this.#timeouts.query, signal);
    const model = plainText(pDriverName ?? '').slice(0, 200);
    const name = plainText(pPrinterName ?? '').slice(0, 200);
    return {
      ...(deviceUri !== null && { deviceUri }),
      ...(model !== '' && { makeAndModel: model }),
      ...(name !== '' && { name }),
      media: [],
      languages: [],
      mediaTypes: Object.fromEntries(languageId.options.map((language) => [language, 'RAW'])),
      spooler: 'delivers',
    };
  }

  async status(signal: AbortSignal): Promise<DeviceStatus> {
    return { ...printerStatus(await this.#info(signal)), labelsPending: null, odometer: null };
  }

  async create({ name }: DocumentRequest, signal: AbortSignal): Promise<string> {
    const handle = await this.#printer(signal);
    try {
      const id = await this.#bounded(handle.startDocument(name), this.#timeouts.query, signal);
      if (id === 0) throw new DocumentRefusal('winspool-start-doc', true);
      // Job numbers are used again, but the document's name is not. So the job's ID has both.
      const job = `${id} ${name}`;
      this.#open.set(job, { handle, id });
      outcomes.set(job, 'open');
      return job;
    } catch (error) {
      letGo(handle);
      throw error;
    }
  }

  async send(job: string, _mediaType: string, document: Uint8Array, signal: AbortSignal): Promise<void> {
    const { handle } = this.#open.get(job) ?? {};
    if (handle === undefined) throw new TransportError('connection-lost', 'before the document');
    let whole = false;
    try {
      const { write, query } = this.#timeouts;
      if (!(await this.#bounded(handle.startPage(), query, signal))) throw lost('StartPagePrinter');
      outcomes.set(job, 'sending');
      for (let at = 0; at < document.length; ) {
        const taken = await this.#bounded(handle.write(document.subarray(at, at + PIECE)), write, signal);
        if (taken === 0) throw lost('WritePrinter');
        at += taken;
      }
      if (!(await this.#bounded(handle.endPage(), query, signal))) throw lost('EndPagePrinter');
      if (!(await this.#bounded(handle.endDocument(), Math.max(END, query), signal)))
        throw lost('EndDocPrinter');
      whole = true;
      outcomes.set(job, 'delivered');
    } finally {
      this.#open.delete(job);
      // Half a document must not stay in the spooler.
      if (!whole) handle.abort().catch(() => undefined);
      letGo(handle);
    }
  }

  async jobState(job: string, signal: AbortSignal): Promise<PrinterJobState | null> {
    const parts = partsOf(job);
    if (parts === null) return null;
    const { id, name } = parts;
    const found = await this.#on(signal, async (handle) => {
      const info = await handle.job(id);
      // Either there is no such job, or the spooler does not answer. If it does not answer, `info` fails too.
      if (info === null && (await handle.info()) === null) throw lost('GetPrinter');
      return info;
    });
    const known = outcomes.state(job, name, this.#open.has(job));
    if (found === null || found.pDocument !== name) return known;
    if (this.#open.has(job)) return known;
    const state = jobState(found.Status, name);
    if (found.Status & JOB.deleting && state.phase !== 'completed') outcomes.set(job, 'canceled');
    return state;
  }

  async find(name: string, signal: AbortSignal): Promise<string[]> {
    const jobs = await this.#on(signal, (handle) => handle.jobs());
    return jobs.filter(({ pDocument }) => pDocument === name).map(({ JobId }) => `${JobId} ${name}`);
  }

  async cancel(job: string, signal: AbortSignal): Promise<void> {
    const open = this.#open.get(job);
    if (open !== undefined) {
      this.#open.delete(job);
      outcomes.set(job, 'given up');
      open.handle.abort().catch(() => undefined);
      letGo(open.handle);
      return;
    }
    const parts = partsOf(job);
    if (parts === null) return;
    const { id, name } = parts;
    await this.#on(signal, async (handle) => {
      if ((await handle.job(id))?.pDocument === name) await handle.deleteJob(id);
    });
  }

  close(): void {
    for (const { handle } of this.#open.values()) {
      handle.abort().catch(() => undefined);
      letGo(handle);
    }
    this.#open.clear();
  }

  async #info(signal: AbortSignal): Promise<PrinterInfo> {
    const info = await this.#on(signal, (handle) => handle.info());
    if (info === null) throw lost('GetPrinter');
    return info;
  }

  /** Opens the printer for a question. */
  async #on<T>(signal: AbortSignal, ask: (handle: PrinterHandle) => Promise<T>): Promise<T> {
    const handle = await this.#printer(signal);
    try {
      return await this.#bounded(ask(handle), this.#timeouts.query, signal);
    } finally {
      letGo(handle);
    }
  }

  async #printer(signal: AbortSignal): Promise<PrinterHandle> {
    signal.throwIfAborted();
    const opening = openPrinter(this.#name);
    let handle: PrinterHandle | null = null;
    try {
      handle = await this.#bounded(opening, this.#timeouts.connect, signal);
    } catch (error) {
      // A handle that opens after this call has given up is closed here.
      opening.then((late) => late && letGo(late)).catch(() => undefined);
      throw error;
    }
    if (handle === null) {
      throw new TransportError(
        'device-unreachable',
        'the spooler has no such printer, or it is not ours to use',
      );
    }
    return handle;
  }

  #bounded<T>(work: Promise<T>, ms: number, signal: AbortSignal): Promise<T> {
    const late = () => new TransportError('query-timeout', `the spooler, ${ms} ms`);
    return orAborted(within(work, ms, late), signal);
  }
}

function letGo(handle: PrinterHandle): void {
  handle.close().catch(() => undefined);
}

function lost(what: string): TransportError {
  return new TransportError('connection-lost', `${what} failed`);
}

/** @throws TransportError `address-invalid` */
export function printerName(uri: URL): string {
  const plain = uri.host === '' && uri.search === '' && uri.hash === '';
  const name = plain ? withoutPercents(uri.pathname) : '';
  // Windows takes at most 220 characters. `\\server\printer` is a printer that the user is connected to.
  if (!/^[^\p{C},!]{1,220}$/u.test(name)) {
    throw new TransportError('address-invalid', 'expected winspool:printer%20name');
  }
  return name;
}

export function winspoolAddress(name: string): string {
  return `winspool:${encodeURIComponent(name)}`;
}

/** Null: another transport has made the printer's job; the journal does not say which one. */
function partsOf(job: string): { id: number; name: string } | null {
  const [, id, name] = /^(\d+) (.*)$/.exec(job) ?? [];
  return id === undefined || name === undefined ? null : { id: Number(id), name };
}

/** JOB_STATUS_…, winspool.h. */
const JOB = {
  paused: 0x1,
  error: 0x2,
  deleting: 0x4 | 0x100,
  spooling: 0x8,
  printing: 0x10,
  offline: 0x20,
  paperOut: 0x40,
  /** JOB_STATUS_PRINTED, JOB_STATUS_COMPLETE: its bytes are with the device. */
  done: 0x80 | 0x1000,
  blocked: 0x200,
  intervention: 0x400,
};
const STUCK = JOB.paused | JOB.error | JOB.offline | JOB.paperOut | JOB.blocked | JOB.intervention;

/** A finished job is also marked as deleting while it leaves the queue, so the flags of `done` come first. */
export function jobState(status: number, name: string): PrinterJobState {
  const phase =
    status & JOB.done
      ? 'completed'
      : status & JOB.deleting
        ? 'processing'
        : status & JOB.spooling
          ? 'held'
          : status & STUCK
            ? 'stopped'
            : status & JOB.printing
              ? 'processing'
              : 'pending';
  const incomplete = phase === 'held';
  return { phase, reasons: [], name, impressions: null, incomplete, began: null };
}

/** PRINTER_STATUS_…, winspool.h: the flags that mean that the printer is stopped, each with its reason. */
const REASONS: readonly (readonly [number, PrinterReason])[] = [
  [0x1, 'paused'],
  [0x2, 'other'],
  [0x8, 'media-jam'],
  [0x10, 'media-empty'],
  [0x40, 'other'],
  [0x80, 'offline'],
  [0x800, 'output-area-full'],
  [0x1000, 'offline'],
  [0x4_0000, 'marker-supply-empty'],
  [0x10_0000, 'other'],
  [0x40_0000, 'cover-open'],
];
/** Busy, initializing, printing, processing, waiting, warming up, bytes on their way. */
const WORKING = 0x100 | 0x200 | 0x400 | 0x2000 | 0x4000 | 0x8000 | 0x1_0000;
/** PRINTER_ATTRIBUTE_WORK_OFFLINE. */
const WORK_OFFLINE = 0x400;

export function printerStatus({
  Status,
  Attributes,
}: Pick<PrinterInfo, 'Status' | 'Attributes'>): DeviceState {
  const told = REASONS.flatMap(([flag, reason]) => (Status & flag ? [reason] : []));
  const reasons = [...new Set([...told, ...(Attributes & WORK_OFFLINE ? (['offline'] as const) : [])])];
  if (reasons.length > 0) return { state: 'stopped', reasons };
  return { state: Status & WORKING ? 'processing' : 'idle', reasons };
}
