/**
 * The functions of the Windows spooler (winspool.drv) that Platen calls through koffi. They run on threads of libuv, so that no
 * call holds up the process: a few calls at a time, and one at a time for each handle.
 *
 * A running call cannot be cancelled. The caller can stop waiting, and the handle is closed when the call returns. Windows'
 * own error number is lost with the thread, so a failure only says which function failed.
 *
 * Source: Microsoft, Print Spooler API (winspool.h); structures and flags as there.
 */
import { z } from 'zod';
import { TransportError } from '../../connection.ts';
import { Semaphore } from './semaphore.ts';

const flags = z.int().min(0);
const text = z.string().nullable();

const printerInfo = z.object({
  pPrinterName: text,
  pPortName: text,
  pDriverName: text,
  pComment: text,
  pLocation: text,
  /** PRINTER_ATTRIBUTE_… */
  Attributes: flags,
  /** PRINTER_STATUS_… */
  Status: flags,
  cJobs: flags,
});
export type PrinterInfo = z.infer<typeof printerInfo>;

const jobInfo = z.object({
  JobId: flags,
  pDocument: text,
  /** JOB_STATUS_… */
  Status: flags,
});
type JobInfo = z.infer<typeof jobInfo>;

/** PRINTER_INFO_2W and JOB_INFO_1W: `W` is a text, `P` a pointer, `D` 32 bits. */
const PRINTER_INFO = {
  W: ['pServerName', 'pPrinterName', 'pShareName', 'pPortName', 'pDriverName', 'pComment', 'pLocation'],
  P: ['pDevMode'],
  W2: ['pSepFile', 'pPrintProcessor', 'pDatatype', 'pParameters'],
  P2: ['pSecurityDescriptor'],
  D: [
    ...['Attributes', 'Priority', 'DefaultPriority', 'StartTime', 'UntilTime', 'Status', 'cJobs'],
    'AveragePPM',
  ],
};
const JOB_INFO = {
  D: ['JobId'],
  W: ['pPrinterName', 'pMachineName', 'pUserName', 'pDocument', 'pDatatype', 'pStatus'],
  D2: ['Status', 'Priority', 'Position', 'TotalPages', 'PagesPrinted'],
  // SYSTEMTIME: eight 16-bit numbers.
  D3: ['Submitted1', 'Submitted2', 'Submitted3', 'Submitted4'],
};
const TYPES: Readonly<Record<string, string>> = { W: 'str16', P: 'void *', D: 'uint32_t' };

/** PRINTER_ENUM_LOCAL, PRINTER_ENUM_CONNECTIONS. */
const LOCAL_AND_CONNECTED = 2 | 4;
/** A list may grow between the call that asks for its size and the call that reads it. */
const TRIES = 5;
const MOST_JOBS = 10_000;

interface Native {
  async(...args: unknown[]): void;
}

/** Two fewer than libuv's threads. The service manager has one (`service-process.ts`), and one is left for all else. */
const semaphore = new Semaphore(2, 100);

/** Calls `native` when its turn has come. The result is unchecked. */
function call(native: Native, ...args: unknown[]): Promise<unknown> {
  const calling = () =>
    new Promise<unknown>((resolve, reject) => {
      native.async(...args, (error: unknown, result: unknown) => {
        if (error) reject(error);
        else resolve(result);
      });
    });
  return semaphore.run(calling);
}

/** Throws while too many calls wait for the spooler, so that no more handles are opened. Open ones can be used and closed. */
function requireAnswers(): void {
  if (semaphore.full) throw new TransportError('query-timeout', 'the spooler still owes too many answers');
}

type Spooler = Awaited<ReturnType<typeof load>>;
let loaded: Promise<Spooler> | undefined;

/** @throws TransportError `address-invalid` on systems other than Windows */
function spooler(): Promise<Spooler> {
  if (process.platform !== 'win32') throw new TransportError('address-invalid', 'winspool: is for Windows');
  loaded ??= load();
  return loaded;
}

async function load() {
  const { default: koffi } = await import('koffi');
  const winspool = koffi.load('winspool.drv');
  const native = (result: string, name: string, ...parameters: string[]): Native =>
    winspool.func(`${result} __stdcall ${name}(${parameters.join(', ')})`);
  const layout = (name: string, fields: Readonly<Record<string, readonly string[]>>) =>
    koffi.struct(
      name,
      Object.fromEntries(
        Object.entries(fields).flatMap(([kind, names]) =>
          names.map((field) => [field, TYPES[kind.charAt(0)] ?? 'void *']),
        ),
      ),
    );
  koffi.struct('DOC_INFO_1W', { pDocName: 'str16', pOutputFile: 'str16', pDatatype: 'str16' });
  const buffer = ['_Out_ uint8_t *buffer', 'uint32_t size', '_Out_ uint32_t *needed'];
  const count = '_Out_ uint32_t *returned';
  const handle = 'void *printer';
  const level = 'uint32_t level';
  return {
    printerInfo: layout('PRINTER_INFO_2W', PRINTER_INFO),
    jobInfo: layout('JOB_INFO_1W', JOB_INFO),
    sizeOf: (type: ReturnType<typeof layout>) => koffi.sizeof(type),
    decode: (bytes: Buffer, at: number, type: ReturnType<typeof layout>): unknown =>
      koffi.decode(bytes, at, type),
    enumPrinters: native('bool', 'EnumPrintersW', 'uint32_t flags', 'str16 name', level, ...buffer, count),
    openPrinter: native('bool', 'OpenPrinterW', 'str16 name', '_Out_ void **printer', 'void *defaults'),
    closePrinter: native('bool', 'ClosePrinter', handle),
    getPrinter: native('bool', 'GetPrinterW', handle, level, ...buffer),
    startDoc: native('uint32_t', 'StartDocPrinterW', handle, level, 'DOC_INFO_1W *document'),
    startPage: native('bool', 'StartPagePrinter', handle),
    write: native(
      'bool',
      'WritePrinter',
      handle,
      'const uint8_t *bytes',
      'uint32_t size',
      '_Out_ uint32_t *written',
    ),
    endPage: native('bool', 'EndPagePrinter', handle),
    endDoc: native('bool', 'EndDocPrinter', handle),
    abort: native('bool', 'AbortPrinter', handle),
    getJob: native('bool', 'GetJobW', handle, 'uint32_t job', level, ...buffer),
    enumJobs: native('bool', 'EnumJobsW', handle, 'uint32_t first', 'uint32_t most', level, ...buffer, count),
    setJob: native('bool', 'SetJobW', handle, 'uint32_t job', level, 'void *data', 'uint32_t command'),
  };
}

/**
 * Calls a function again until its buffer is as large as the function needs. Returns the buffer; null: the call failed.
 * @param ask calls the function with a buffer, its size, and an array that takes the size needed
 */
async function filled(
  ask: (buffer: Buffer | null, size: number, needed: number[]) => Promise<unknown>,
): Promise<Buffer | null> {
  let bytes: Buffer | null = null;
  for (let tries = 0; tries < TRIES; tries++) {
    const needed = [0];
    if ((await ask(bytes, bytes?.length ?? 0, needed)) === true) return bytes ?? Buffer.alloc(0);
    const [size = 0] = needed;
    if (size <= (bytes?.length ?? 0)) return null;
    bytes = Buffer.alloc(size);
  }
  return null;
}

/** The printers of this computer, and those that its user is connected to. */
export async function listPrinters(): Promise<PrinterInfo[]> {
  const api = await spooler();
  requireAnswers();
  const returned = [0];
  const bytes = await filled((buffer, size, needed) =>
    call(api.enumPrinters, LOCAL_AND_CONNECTED, null, 2, buffer, size, needed, returned),
  );
  if (bytes === null) throw new TransportError('reply-invalid', 'EnumPrinters failed');
  const size = api.sizeOf(api.printerInfo);
  const places = Array.from({ length: returned[0] ?? 0 }, (_, place) => place * size);
  return places.map((at) => printerInfo.parse(api.decode(bytes, at, api.printerInfo)));
}

/** null: there is no such printer, or access to it is denied. */
export async function openPrinter(name: string): Promise<PrinterHandle | null> {
  const api = await spooler();
  requireAnswers();
  const handle: unknown[] = [null];
  const opened = await call(api.openPrinter, name, handle, null);
  return opened === true ? new PrinterHandle(api, handle[0]) : null;
}

/** An open printer. One call at a time. */
export class PrinterHandle {
  readonly #api: Spooler;
  readonly #handle: unknown;
  #last: Promise<unknown> = Promise.resolve();

  constructor(api: Spooler, handle: unknown) {
    this.#api = api;
    this.#handle = handle;
  }

  /** Null: the call failed. */
  async info(): Promise<PrinterInfo | null> {
    const api = this.#api;
    const bytes = await filled((...buffer) => this.#call(api.getPrinter, 2, ...buffer));
    return bytes === null ? null : printerInfo.parse(api.decode(bytes, 0, api.printerInfo));
  }

  /** Null: there is no such job, or the call failed. */
  async job(id: number): Promise<JobInfo | null> {
    const api = this.#api;
    const bytes = await filled((...buffer) => this.#call(api.getJob, id, 1, ...buffer));
    return bytes === null ? null : jobInfo.parse(api.decode(bytes, 0, api.jobInfo));
  }

  /** The printer's jobs; empty if the call failed. */
  async jobs(): Promise<JobInfo[]> {
    const api = this.#api;
    const returned = [0];
    const bytes = await filled((...buffer) => this.#call(api.enumJobs, 0, MOST_JOBS, 1, ...buffer, returned));
    if (bytes === null) return [];
    const size = api.sizeOf(api.jobInfo);
    const places = Array.from({ length: returned[0] ?? 0 }, (_, place) => place * size);
    return places.map((at) => jobInfo.parse(api.decode(bytes, at, api.jobInfo)));
  }

  /** Begins a document whose bytes go to the printer as they are. Returns its job's ID; 0: the call failed. */
  async startDocument(name: string): Promise<number> {
    const document = { pDocName: name, pOutputFile: null, pDatatype: 'RAW' };
    return z
      .int()
      .min(0)
      .parse(await this.#call(this.#api.startDoc, 1, document));
  }

  startPage = (): Promise<boolean> => this.#done(this.#api.startPage);
  endPage = (): Promise<boolean> => this.#done(this.#api.endPage);
  endDocument = (): Promise<boolean> => this.#done(this.#api.endDoc);
  /** Throws away what is spooled of the document under way. */
  abort = (): Promise<boolean> => this.#done(this.#api.abort);

  /** How many bytes were taken; 0: the call failed. */
  async write(bytes: Uint8Array): Promise<number> {
    const written = [0];
    const done = await this.#call(this.#api.write, bytes, bytes.length, written);
    return done === true ? (written[0] ?? 0) : 0;
  }

  /** JOB_CONTROL_DELETE: ends a job, even if it is printing. */
  deleteJob(id: number): Promise<boolean> {
    return this.#done(this.#api.setJob, id, 0, null, 5);
  }

  /** Closes the handle once the running call has returned. */
  async close(): Promise<void> {
    await this.#call(this.#api.closePrinter);
  }

  async #done(native: Native, ...args: unknown[]): Promise<boolean> {
    return (await this.#call(native, ...args)) === true;
  }

  #call(native: Native, ...args: unknown[]): Promise<unknown> {
    const result = this.#last.then(() => call(native, this.#handle, ...args));
    this.#last = result.catch(() => undefined);
    return result;
  }
}
