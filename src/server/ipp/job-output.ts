/** What the operations of IPP do at a printer that the service offers: a job there is a job here, of the account whose key came. */
import type { OperationName } from '../../../drivers/ipp/names.ts';
import type { Permission } from '../../contract/admin.ts';
import { documentTemplate } from '../../contract/document-template.ts';
import type { IppPrinterView } from '../../ipp/attributes.ts';
import {
  ANY_FORMAT,
  type DocumentKind,
  type IppDocumentSource,
  PWG_RASTER,
  tooLarge,
  unzipped,
} from '../../ipp/document.ts';
import { type IppOutput, type JobOrder, type JobQuery, NOBODY } from '../../ipp/operations.ts';
import { IppRefusal } from '../../ipp/refusal.ts';
import type { Scaling } from '../../ipp/ticket.ts';
import { keptKey } from '../jobs/accept/idempotency.ts';
import type { PrintRequests } from '../jobs/accept/print-requests.ts';
import type { Cancellations } from '../jobs/outcome/cancellations.ts';
import { MOST_NUMBER } from '../numbers.ts';
import { ProblemError } from '../problems.ts';
import type { Pool } from '../store/pool.ts';
import { checkQuota } from '../tenants/tenants.ts';
import type { KnownCaller } from './door-caller.ts';
import type { DoorJob } from './door-job.ts';
import {
  documentCame,
  endDoorJob,
  findDoorJob,
  listDoorJobs,
  type NewJob,
  noteDoorJob,
  openDoorJob,
  type Where,
} from './door-jobs.ts';
import { FORMATS, type OfferedPrinter } from './offered-printer.ts';
import { refusing } from './refusals.ts';

/** What the jobs name as their template. */
const TEMPLATE_ID = 'ipp';
const FIELD = 'document';
/** Characters. */
const LONGEST_SENDER = 85;

const FITS = { none: 'none', 'auto-fit': 'shrink', fit: 'fill' } as const satisfies Record<Scaling, string>;

/** How documents begin that are named by their format; of a PDF, anywhere in the first kilobyte. */
const BEGINS: Readonly<Record<string, { what: string; is: (bytes: Buffer) => boolean }>> = {
  'application/pdf': { what: 'a PDF', is: (bytes) => bytes.subarray(0, 1_024).includes('%PDF-') },
  'image/png': {
    what: 'a PNG',
    is: (bytes) => bytes.subarray(0, 8).equals(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')),
  },
  'image/jpeg': {
    what: 'a JPEG',
    is: (bytes) => bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff])),
  },
  [PWG_RASTER]: { what: 'PWG raster', is: (bytes) => bytes.subarray(0, 4).equals(Buffer.from('RaS2')) },
};

const NEEDED: Partial<Record<OperationName, Permission>> = {
  'Print-Job': 'jobs:enqueue',
  'Validate-Job': 'jobs:enqueue',
  'Create-Job': 'jobs:enqueue',
  'Send-Document': 'jobs:enqueue',
  'Get-Job-Attributes': 'jobs:read',
  'Get-Jobs': 'jobs:read',
  'Cancel-Job': 'jobs:cancel',
};

type Host = {
  pool: Pool;
  printRequests: PrintRequests;
  cancellations: Cancellations;
  caller: KnownCaller;
  offered: OfferedPrinter;
  /** Bytes of the longest document. */
  documentLimit: number;
  view(printerUri: string): Promise<IppPrinterView>;
  /** Called with jobs that were made. */
  made(jobId: string): void;
  /** Called with jobs that were canceled. */
  changed(jobs: string[]): void;
};

export class JobOutput implements IppOutput<DoorJob> {
  readonly #host: Host;
  readonly #where: Where;
  readonly jobOperations = {};
  readonly printerOperations = {};

  constructor(host: Host) {
    this.#host = host;
    const { tenantId, test } = host.caller;
    this.#where = { tenantId, test, printerId: host.offered.printer.id };
  }

  view(printerUri: string): Promise<IppPrinterView> {
    return this.#host.view(printerUri);
  }

  permit(operation: OperationName): void {
    const needed = NEEDED[operation];
    if (needed !== undefined && !this.#host.caller.scope.includes(needed))
      throw new IppRefusal('client-error-forbidden', `the key lacks the permission ${needed}`);
  }

  /** A client asks this before it sends anything: a label at least is printed. */
  async admit(): Promise<void> {
    const { pool, caller } = this.#host;
    await refusing(checkQuota(pool, caller.tenantId, 1, caller.test));
  }

  accepts(format: string): boolean {
    return FORMATS.includes(format);
  }

  async print(order: JobOrder, source: IppDocumentSource, kind: DocumentKind): Promise<DoorJob> {
    const document = await this.#document(source, kind);
    const job = this.#newJob(order);
    let number: number | undefined;
    await this.#enqueue(job, document, undefined, async (db, jobId) => {
      number = await noteDoorJob(db, this.#where, job, { octets: document.length, jobId });
    });
    return await this.find(number ?? 0);
  }

  async create(order: JobOrder): Promise<DoorJob> {
    const number = await openDoorJob(this.#host.pool, this.#where, this.#newJob(order));
    if (number === undefined)
      throw new IppRefusal('server-error-too-many-jobs', 'too many jobs wait for their documents');
    return await this.find(number);
  }

  /** The job's number is the key: one job there is one here, however often its document is sent. */
  async send(job: DoorJob, source: IppDocumentSource, kind: DocumentKind): Promise<DoorJob> {
    const { pool } = this.#host;
    const { tenantId } = this.#where;
    try {
      const document = await this.#document(source, kind);
      await this.#enqueue(job, document, `ipp ${job.id}`, async (db, jobId) => {
        const came = await documentCame(db, tenantId, job.id, { octets: document.length, jobId });
        if (!came) throw new ProblemError('job-not-queued', `job ${job.id} has been canceled`);
      });
    } catch (error) {
      // A request that would be refused again ends the job. The client is told why, and can still ask for the job.
      if (error instanceof IppRefusal && error.status.startsWith('client-error-'))
        await endDoorJob(pool, tenantId, job.id, { ended: 'aborted', message: error.message });
      throw error;
    }
    return await this.find(job.id);
  }

  async find(id: number): Promise<DoorJob> {
    const job = id > MOST_NUMBER ? undefined : await findDoorJob(this.#host.pool, this.#where, id);
    if (job === undefined) throw new IppRefusal('client-error-not-found', `there is no job ${id}`);
    return job;
  }

  list(query: JobQuery): Promise<DoorJob[]> {
    const user = query.user === undefined ? undefined : stored(query.user);
    return listDoorJobs(this.#host.pool, this.#where, { ...query, user });
  }

  async cancel({ id, jobId, state }: DoorJob): Promise<void> {
    const { pool, cancellations, caller, changed } = this.#host;
    if (jobId === undefined) {
      const message = 'canceled before its document came';
      if (!(await endDoorJob(pool, caller.tenantId, id, { ended: 'canceled', message })))
        throw new IppRefusal('client-error-not-possible', `job ${id} is ${state}`);
      return;
    }
    await refusing(cancellations.cancel(jobId, false, { who: caller.account }));
    changed([jobId]);
  }

  #newJob({ name, user, ticket: { copies, roll, rotation, scaling, pages } }: JobOrder): NewJob {
    const { formats } = this.#host.offered;
    const format = formats.find(({ width, height }) => width === roll.width && height === roll.height);
    if (format === undefined) throw new Error('a job was taken for a format that the printer does not have');
    const ticket = { copies, format: format.id, media: roll.name, turn: rotation, fit: FITS[scaling], pages };
    // Neither is trusted; a client that says no name is told of by the user name beside the key.
    const sender = user === NOBODY ? (this.#host.caller.person ?? user) : user;
    return { name: stored(name), user: stored(sender).slice(0, LONGEST_SENDER), ticket };
  }

  /** @throws IppRefusal, and what the source throws */
  async #document(source: IppDocumentSource, { format, zipped }: DocumentKind): Promise<Buffer> {
    const { documentLimit } = this.#host;
    let size = 0;
    const bytes = await source.read((more) => {
      size += more;
      if (size > documentLimit) throw tooLarge(documentLimit);
    });
    const document = zipped ? await unzipped(bytes, documentLimit) : bytes;
    if (document.length === 0) throw new IppRefusal('client-error-bad-request', 'expected a document');
    const begins = format === ANY_FORMAT ? undefined : BEGINS[format];
    if (begins?.is(document) === false)
      throw new IppRefusal(
        'client-error-document-format-error',
        `expected ${begins.what}: document-format is ${format}`,
      );
    return document;
  }

  /** @param key undefined: each request makes a job of its own. @throws IppRefusal */
  async #enqueue(
    { name, user, ticket }: { name: string; user: string; ticket: NewJob['ticket'] },
    document: Buffer,
    key: string | undefined,
    also: Parameters<PrintRequests['enqueue']>[0]['also'],
  ): Promise<void> {
    const { printRequests, caller } = this.#host;
    const { tenantId, account, ownAccount, test } = caller;
    const { jobId, replayed } = await refusing(
      printRequests.enqueue({
        ...{ tenantId, account, ownAccount, test },
        key: key === undefined ? undefined : keptKey(key, caller.test),
        template: documentTemplate.parse({
          name: 'IPP document',
          language: 'document',
          fields: [{ name: FIELD }],
          page: {
            ...{ turn: ticket.turn, fit: ticket.fit },
            ...(ticket.pages !== undefined && { pages: ticket.pages }),
          },
        }),
        body: {
          ...{ idT: TEMPLATE_ID, printerId: this.#where.printerId, orientation: 'portrait' },
          ...{ numberCopies: ticket.copies, format: ticket.format },
          // By these people find the job.
          data: [{ [FIELD]: document.toString('base64'), title: name, sender: user }],
        },
        ...(also && { also }),
      }),
    );
    if (!replayed) this.#host.made(jobId);
  }
}

/** PostgreSQL stores neither a NUL nor half a surrogate pair. */
function stored(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}
