/**
 * The operations of an IPP printer: what each checks, does and answers. What becomes of a job is its output's: a press that
 * prints it, or a service that makes a job of its own of it.
 *
 * Source: RFC 8011 §4 (and §4.1.4 to 4.1.8 for what every request must have), PWG 5100.11 for Cancel-My-Jobs and
 * Close-Job, PWG 5100.13 for Identify-Printer.
 */
import {
  groupOf,
  type IppAttribute,
  type IppGroup,
  type IppMessage,
  valuesOf,
} from '../../drivers/ipp/message.ts';
import { OPERATIONS, type OperationName, type StatusName } from '../../drivers/ipp/names.ts';
import { type IppPrinterView, printerAttributes, requested, selected } from './attributes.ts';
import { type DocumentKind, documentKind, type IppDocumentSource } from './document.ts';
import { checkTarget, operationAttributes, pathOf, reply } from './exchange.ts';
import { IppRefusal } from './refusal.ts';
import { type Checked, type JobTicket, ticketOf } from './ticket.ts';
import { jobDescription, jobOutcome, type ToldJob } from './told-job.ts';
import { keyword } from './values.ts';

/** Who has said no name. */
export const NOBODY = 'anonymous';

export interface IppRequest {
  readonly message: IppMessage;
  readonly document: IppDocumentSource;
  /** `ipp://host:port/ipp/print` as the client knows it. */
  readonly printerUri: string;
}

/** A job as it is asked for. */
export interface JobOrder {
  readonly name: string;
  /** Who sends it, as they say. */
  readonly user: string;
  readonly ticket: JobTicket;
}

export interface JobQuery {
  readonly which: 'completed' | 'not-completed' | 'all';
  /** Undefined: everybody's. */
  readonly user: string | undefined;
  /** Undefined: as many as there are. */
  readonly limit: number | undefined;
}

type Answered<T> = T | Promise<T>;

/** Where the jobs of a printer go. Each throws IppRefusal for what cannot be done. */
export interface IppOutput<Job extends ToldJob> {
  view(printerUri: string): Answered<IppPrinterView>;
  /** Whether this caller may do that. */
  permit(operation: OperationName): void;
  /** Whether jobs are taken now. */
  admit(): Answered<void>;
  /** Whether documents of this MIME type are. */
  accepts(format: string): boolean;
  /** A job with its document. @throws also what the source throws */
  print(order: JobOrder, source: IppDocumentSource, kind: DocumentKind): Promise<Job>;
  /** A job whose document is still to come. */
  create(order: JobOrder): Answered<Job>;
  /** The document of such a job. @throws also what the source throws */
  send(job: Job, source: IppDocumentSource, kind: DocumentKind): Promise<Job>;
  find(id: number): Answered<Job>;
  list(query: JobQuery): Answered<readonly Job[]>;
  cancel(job: Job): Answered<void>;
  /** What else can be done with a job. */
  readonly jobOperations: Partial<Record<OperationName, (job: Job) => Answered<void>>>;
  /** What else can be done with the printer; `ids`: the request's `job-ids`. */
  readonly printerOperations: Partial<Record<OperationName, (user: string, ids: number[]) => Answered<void>>>;
}

/** What an operation answers, besides the attributes that every answer has. */
interface Answer {
  readonly groups?: IppGroup[];
  readonly unsupported?: IppAttribute[];
}

interface Call {
  readonly operation: readonly IppAttribute[];
  readonly job: readonly IppAttribute[];
  readonly request: IppRequest;
  readonly view: IppPrinterView;
  readonly user: string;
}

const OPERATION_NAMES = new Map<number, OperationName>();
for (const name of Object.keys(OPERATIONS) as OperationName[]) OPERATION_NAMES.set(OPERATIONS[name], name);

export function operationName(message: IppMessage): OperationName | undefined {
  return OPERATION_NAMES.get(message.code);
}

export class IppOperations<Job extends ToldJob> {
  readonly #output: IppOutput<Job>;
  readonly #table: ReadonlyMap<OperationName, (call: Call) => Answered<Answer>>;

  constructor(output: IppOutput<Job>) {
    this.#output = output;
    const own: [OperationName, (call: Call) => Answered<Answer>][] = [
      ['Print-Job', (call) => this.#printJob(call)],
      ['Validate-Job', (call) => this.#validateJob(call)],
      ['Create-Job', (call) => this.#createJob(call)],
      ['Send-Document', (call) => this.#sendDocument(call)],
      ['Cancel-Job', (call) => this.#withJob(call, (job) => output.cancel(job))],
      ['Get-Job-Attributes', (call) => this.#getJob(call)],
      ['Get-Jobs', (call) => this.#getJobs(call)],
      ['Get-Printer-Attributes', (call) => this.#getPrinter(call)],
    ];
    for (const [name, change] of entriesOf(output.jobOperations))
      own.push([name, (call) => this.#withJob(call, change)]);
    for (const [name, change] of entriesOf(output.printerOperations))
      own.push([name, (call) => this.#withPrinter(call, change)]);
    this.#table = new Map(own);
  }

  /** Answers a request, with an error status if it is refused. @throws when the client breaks off */
  async answer(request: IppRequest): Promise<IppMessage> {
    try {
      const { groups = [], unsupported = [] } = await this.#perform(request);
      const status = unsupported.length > 0 ? IGNORED : 'successful-ok';
      return reply(request.message, status, '', unsupported, groups);
    } catch (error) {
      if (!(error instanceof IppRefusal)) throw error;
      return reply(request.message, error.status, error.message, error.unsupported, []);
    }
  }

  async #perform(request: IppRequest): Promise<Answer> {
    const { message, printerUri } = request;
    if (message.requestId < 1) throw new IppRefusal('client-error-bad-request', 'request-id is not positive');
    if (message.version.major !== 1 && message.version.major !== 2) {
      throw new IppRefusal('server-error-version-not-supported', 'IPP/1.1 and 2.0 are supported');
    }
    const operation = operationAttributes(message);
    const name = operationName(message);
    const perform = name && this.#table.get(name);
    if (!perform) throw new IppRefusal('server-error-operation-not-supported', 'unknown operation');
    const [target] = operation[2]?.values ?? [];
    const targetName = operation[2]?.name;
    if (target?.tag !== 'uri' || (targetName !== 'printer-uri' && targetName !== 'job-uri')) {
      throw new IppRefusal('client-error-bad-request', 'the third attribute is not printer-uri or job-uri');
    }
    checkTarget(target.value, pathOf(printerUri) ?? '');
    this.#output.permit(name);
    return await perform({
      operation,
      job: groupOf(message, 'job')?.attributes ?? [],
      request,
      view: await this.#output.view(printerUri),
      user: nameIn(operation, 'requesting-user-name') ?? NOBODY,
    });
  }

  // New jobs

  async #printJob(call: Call): Promise<Answer> {
    const { ticket, unsupported } = this.#check(call);
    const kind = this.#kind(call);
    await this.#output.admit();
    const job = await this.#output.print(orderOf(call, ticket), call.request.document, kind);
    return { groups: [this.#outcome(job, call)], unsupported };
  }

  async #validateJob(call: Call): Promise<Answer> {
    const { unsupported } = this.#check(call);
    this.#kind(call);
    await this.#output.admit();
    return { unsupported };
  }

  async #createJob(call: Call): Promise<Answer> {
    const { ticket, unsupported } = this.#check(call);
    await this.#output.admit();
    const job = await this.#output.create(orderOf(call, ticket));
    return { groups: [this.#outcome(job, call)], unsupported };
  }

  async #sendDocument(call: Call): Promise<Answer> {
    const job = await this.#job(call);
    const last = flag(call.operation, 'last-document');
    if (last === undefined) throw new IppRefusal('client-error-bad-request', 'last-document is missing');
    const kind = this.#kind(call);
    if (!new Set(job.reasons).has('job-data-insufficient')) {
      if (ENDED.has(job.state))
        throw new IppRefusal('client-error-not-possible', `job ${job.id} is ${job.state}`);
      throw new IppRefusal('server-error-multiple-document-jobs-not-supported', 'one document a job');
    }
    const sent = await this.#output.send(job, call.request.document, kind);
    return { groups: [this.#outcome(sent, call)] };
  }

  #check(call: Call): Checked {
    const checked = ticketOf(call.job, call.view);
    if (checked.unsupported.length > 0 && flag(call.operation, 'ipp-attribute-fidelity') === true) {
      const names = checked.unsupported.map(({ name }) => name).join(', ');
      throw new IppRefusal(UNSUPPORTED, `not supported: ${names}`, checked.unsupported);
    }
    return checked;
  }

  #kind({ operation }: Call): DocumentKind {
    return documentKind(operation, (format) => this.#output.accepts(format));
  }

  // Known jobs

  async #withJob(call: Call, change: (job: Job) => Answered<void>): Promise<Answer> {
    await change(await this.#job(call));
    return {};
  }

  async #getJob(call: Call): Promise<Answer> {
    const job = await this.#job(call);
    const asked = requested(call.operation);
    return { groups: [this.#described(job, call, asked)] };
  }

  async #getJobs(call: Call): Promise<Answer> {
    const { operation, user } = call;
    const asked = valuesOf(operation, 'which-jobs')[0];
    const kind = asked?.tag === 'keyword' ? asked.value : 'not-completed';
    const which = WHICH_JOBS.find((one) => one === kind);
    if (!which) throw new IppRefusal(UNSUPPORTED, 'which-jobs', [keyword('which-jobs', kind)]);
    const limit = valuesOf(operation, 'limit')[0];
    const jobs = await this.#output.list({
      which,
      user: flag(operation, 'my-jobs') === true ? user : undefined,
      limit: limit?.tag === 'integer' && limit.value > 0 ? limit.value : undefined,
    });
    const named = requested(operation);
    const wanted = named.length === 0 ? ['job-uri', 'job-id'] : named;
    return { groups: jobs.map((job) => this.#described(job, call, wanted)) };
  }

  #described(job: Job, { request, view }: Call, asked: readonly string[]): IppGroup {
    const description = jobDescription(job, { printerUri: request.printerUri, since: view.since });
    const groups = { 'job-description': description, 'job-template': job.template };
    return { tag: 'job', attributes: selected(asked, [...description, ...job.template], groups) };
  }

  #outcome(job: Job, { request, view }: Call): IppGroup {
    return { tag: 'job', attributes: jobOutcome(job, { printerUri: request.printerUri, since: view.since }) };
  }

  /** The job that job-uri, or printer-uri and job-id, name. */
  #job({ operation }: Call): Answered<Job> {
    const target = operation[2];
    const [value] = target?.values ?? [];
    if (target?.name === 'job-uri' && value?.tag === 'uri') {
      const id = /\/(\d{1,10})$/.exec(value.value)?.[1];
      if (id === undefined) throw new IppRefusal('client-error-not-found', 'job-uri names no job');
      return this.#output.find(Number(id));
    }
    const [id] = valuesOf(operation, 'job-id');
    if (id?.tag !== 'integer') throw new IppRefusal('client-error-bad-request', 'job-id is missing');
    return this.#output.find(id.value);
  }

  // The printer

  #getPrinter({ operation, view }: Call): Answer {
    const format = valuesOf(operation, 'document-format')[0];
    if (format?.tag === 'mimeMediaType' && !view.formats.includes(format.value.toLowerCase())) {
      const unsupported = [{ name: 'document-format', values: [format] }];
      throw new IppRefusal('client-error-document-format-not-supported', format.value, unsupported);
    }
    const attributes = printerAttributes(view, [...this.#table.keys()], requested(operation));
    return { groups: [{ tag: 'printer', attributes }] };
  }

  async #withPrinter(
    { operation, user }: Call,
    change: (user: string, ids: number[]) => Answered<void>,
  ): Promise<Answer> {
    const ids = valuesOf(operation, 'job-ids').flatMap((id) => (id.tag === 'integer' ? [id.value] : []));
    await change(user, ids);
    return {};
  }
}

const UNSUPPORTED: StatusName = 'client-error-attributes-or-values-not-supported';
const IGNORED: StatusName = 'successful-ok-ignored-or-substituted-attributes';
const WHICH_JOBS = ['completed', 'not-completed', 'all'] as const;
const ENDED: ReadonlySet<string> = new Set(['canceled', 'aborted', 'completed']);
/** IPP counts octets, 255 in a name; a UTF-16 unit is at most three. */
const LONGEST_NAME = 85;

function entriesOf<T>(table: Partial<Record<OperationName, T>>): [OperationName, T][] {
  return [...OPERATION_NAMES.values()].flatMap((name) => {
    const entry = table[name];
    return entry === undefined ? [] : [[name, entry] satisfies [OperationName, T]];
  });
}

function orderOf({ operation, user }: Call, ticket: JobTicket): JobOrder {
  const name = nameIn(operation, 'job-name') ?? nameIn(operation, 'document-name') ?? 'Untitled';
  return { name, user, ticket };
}

function nameIn(attributes: readonly IppAttribute[], name: string): string | undefined {
  const [value] = valuesOf(attributes, name);
  return (value?.tag === 'name' || value?.tag === 'nameWithLanguage') && value.value !== ''
    ? value.value.slice(0, LONGEST_NAME)
    : undefined;
}

function flag(attributes: readonly IppAttribute[], name: string): boolean | undefined {
  const [value] = valuesOf(attributes, name);
  return value?.tag === 'boolean' ? value.value : undefined;
}
