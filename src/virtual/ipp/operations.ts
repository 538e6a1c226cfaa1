/**
 * The operations of a virtual IPP printer: what each checks, does and answers.
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
} from '../../../drivers/ipp/message.ts';
import { OPERATIONS, type OperationName, type StatusName } from '../../../drivers/ipp/names.ts';
import {
  DOCUMENT_FORMATS,
  type IppPrinterView,
  printerAttributes,
  requested,
  selected,
} from './attributes.ts';
import {
  type DocumentKind,
  documentKind,
  type IppDocumentSource,
  receiveDocument,
} from './document-intake.ts';
import { checkTarget, operationAttributes, PRINTER_PATH, reply } from './exchange.ts';
import { type IppJob, type JobSurroundings, jobDescription, jobOutcome } from './job.ts';
import { IppRefusal } from './refusal.ts';
import type { IppSpool } from './spool.ts';
import { type Checked, ticketOf } from './ticket.ts';
import { keyword } from './values.ts';

export interface IppRequest {
  readonly message: IppMessage;
  readonly document: IppDocumentSource;
  /** `host:port` as the client knows it. */
  readonly authority: string;
}

/** What the printer refuses because a test asked for it. */
export interface IppMisbehavior {
  /** Operations that make a job, and Send-Document, are answered with server-error-busy. */
  busy: boolean;
  /** Operations that make a job are answered with server-error-not-accepting-jobs. */
  notAccepting: boolean;
  /** Document formats that it names as supported and refuses all the same. */
  refusedFormats: readonly string[];
}

interface OperationsHost {
  readonly spool: IppSpool;
  readonly misbehavior: IppMisbehavior;
  view(uri: string): IppPrinterView;
  pause(paused: boolean): void;
  identify(): void;
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

export class IppOperations {
  readonly #host: OperationsHost;
  readonly #table: Partial<Record<OperationName, (call: Call) => Answer | Promise<Answer>>> = {
    'Print-Job': (call) => this.#printJob(call),
    'Validate-Job': (call) => this.#validateJob(call),
    'Create-Job': (call) => this.#createJob(call),
    'Send-Document': (call) => this.#sendDocument(call),
    'Cancel-Job': (call) => this.#stopJob(call),
    'Get-Job-Attributes': (call) => this.#getJob(call),
    'Get-Jobs': (call) => this.#getJobs(call),
    'Get-Printer-Attributes': (call) => this.#getPrinter(call),
    'Hold-Job': (call) => this.#withJob(call, (job) => this.#host.spool.hold(job, true)),
    'Release-Job': (call) => this.#withJob(call, (job) => this.#host.spool.hold(job, false)),
    'Pause-Printer': () => this.#done(() => this.#host.pause(true)),
    'Resume-Printer': () => this.#done(() => this.#host.pause(false)),
    'Cancel-My-Jobs': (call) => this.#cancelMyJobs(call),
    'Close-Job': (call) => this.#closeJob(call),
    'Identify-Printer': () => this.#done(() => this.#host.identify()),
  };

  constructor(host: OperationsHost) {
    this.#host = host;
  }

  /** The operations it knows. */
  get names(): OperationName[] {
    return Object.keys(this.#table) as OperationName[];
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

  #perform(request: IppRequest): Answer | Promise<Answer> {
    const { message } = request;
    if (message.requestId < 1) throw new IppRefusal('client-error-bad-request', 'request-id is not positive');
    if (message.version.major !== 1 && message.version.major !== 2) {
      throw new IppRefusal('server-error-version-not-supported', 'IPP/1.1 and 2.0 are supported');
    }
    const operation = operationAttributes(message);
    const name = operationName(message);
    const perform = name && this.#table[name];
    if (!perform) throw new IppRefusal('server-error-operation-not-supported', 'unknown operation');
    const [target] = operation[2]?.values ?? [];
    const targetName = operation[2]?.name;
    if (target?.tag !== 'uri' || (targetName !== 'printer-uri' && targetName !== 'job-uri')) {
      throw new IppRefusal('client-error-bad-request', 'the third attribute is not printer-uri or job-uri');
    }
    checkTarget(target.value);
    const [user] = valuesOf(operation, 'requesting-user-name');
    return perform({
      operation,
      job: groupOf(message, 'job')?.attributes ?? [],
      request,
      view: this.#host.view(`ipp://${request.authority}${PRINTER_PATH}`),
      user: user && 'value' in user && typeof user.value === 'string' ? user.value : 'anonymous',
    });
  }

  // New jobs

  async #printJob(call: Call): Promise<Answer> {
    const { ticket, unsupported } = this.#check(call);
    const kind = this.#kind(call);
    this.#admit();
    const job = this.#host.spool.create(jobName(call), call.user, ticket, 'job-incoming');
    await this.#receive(job, call, kind);
    return { groups: [this.#outcome(job, call)], unsupported };
  }

  #validateJob(call: Call): Answer {
    const { unsupported } = this.#check(call);
    this.#kind(call);
    this.#admit();
    return { unsupported };
  }

  #createJob(call: Call): Answer {
    const { ticket, unsupported } = this.#check(call);
    this.#admit();
    const job = this.#host.spool.create(jobName(call), call.user, ticket, 'job-data-insufficient');
    return { groups: [this.#outcome(job, call)], unsupported };
  }

  async #sendDocument(call: Call): Promise<Answer> {
    const { spool } = this.#host;
    const job = this.#job(call);
    const last = flag(call.operation, 'last-document');
    if (last === undefined) throw new IppRefusal('client-error-bad-request', 'last-document is missing');
    const kind = this.#kind(call);
    if (!job.reasons.has('job-data-insufficient')) {
      if (job.over) throw new IppRefusal('client-error-not-possible', `job ${job.id} is ${job.state}`);
      throw new IppRefusal('server-error-multiple-document-jobs-not-supported', 'one document a job');
    }
    if (this.#host.misbehavior.busy) throw new IppRefusal('server-error-busy', 'busy');
    spool.receiving(job);
    await this.#receive(job, call, kind);
    return { groups: [this.#outcome(job, call)] };
  }

  /** No more documents come for a job; a job without a document is aborted, as it has nothing to print. */
  #closeJob(call: Call): Answer {
    const job = this.#job(call);
    if (job.reasons.has('job-data-insufficient')) {
      this.#host.spool.end(job, 'aborted', ['aborted-by-system'], 'closed without a document');
    }
    return {};
  }

  #check(call: Call): Checked {
    const checked = ticketOf(call.job, call.view);
    if (checked.unsupported.length > 0 && flag(call.operation, 'ipp-attribute-fidelity') === true) {
      const names = checked.unsupported.map(({ name }) => name).join(', ');
      throw new IppRefusal(UNSUPPORTED, `not supported: ${names}`, checked.unsupported);
    }
    return checked;
  }

  #admit(): void {
    const { busy, notAccepting } = this.#host.misbehavior;
    if (busy) throw new IppRefusal('server-error-busy', 'busy');
    if (notAccepting) throw new IppRefusal('server-error-not-accepting-jobs', 'no jobs are accepted');
  }

  #kind({ operation }: Call): DocumentKind {
    return documentKind(operation, this.#host.misbehavior.refusedFormats);
  }

  #receive(job: IppJob, { request, view }: Call, kind: DocumentKind): Promise<void> {
    return receiveDocument(this.#host.spool, job, request.document, kind, view.documentLimit);
  }

  // Known jobs

  #withJob(call: Call, change: (job: IppJob) => void): Answer {
    return this.#done(() => change(this.#job(call)));
  }

  #stopJob(call: Call): Answer {
    return this.#withJob(call, (job) => this.#host.spool.stop(job, 'canceled', ['job-canceled-by-user']));
  }

  /** All of the user's jobs, or of those named by job-ids, or none (PWG 5100.11 §5.2). */
  #cancelMyJobs(call: Call): Answer {
    const ids = valuesOf(call.operation, 'job-ids').flatMap((id) => (id.tag === 'integer' ? [id.value] : []));
    const named = ids.map((id) => this.#host.spool.find(id));
    const other = named.find((job) => job.user !== call.user || job.over || job.stopping);
    if (other) throw new IppRefusal('client-error-not-possible', `job ${other.id} cannot be canceled`);
    const mine = this.#host.spool.waiting.filter((job) => job.user === call.user && !job.stopping);
    for (const job of ids.length > 0 ? new Set(named) : mine) {
      this.#host.spool.stop(job, 'canceled', ['job-canceled-by-user']);
    }
    return {};
  }

  #getJob(call: Call): Answer {
    const job = this.#job(call);
    const asked = requested(call.operation);
    return { groups: [this.#described(job, call, asked)] };
  }

  #getJobs(call: Call): Answer {
    const { operation, user } = call;
    const which = valuesOf(operation, 'which-jobs')[0];
    const kind = which?.tag === 'keyword' ? which.value : 'not-completed';
    const { spool } = this.#host;
    // The last that ended comes first (RFC 8011 §4.2.6.2).
    const lists = new Map([
      ['completed', spool.ended],
      ['not-completed', spool.waiting],
      ['all', spool.jobs],
    ]);
    const listed = lists.get(kind);
    if (!listed) throw new IppRefusal(UNSUPPORTED, 'which-jobs', [keyword('which-jobs', kind)]);
    const limit = valuesOf(operation, 'limit')[0];
    const mine = flag(operation, 'my-jobs') === true;
    const jobs = listed.filter((job) => !mine || job.user === user);
    const asked = requested(operation);
    const wanted = asked.length === 0 ? ['job-uri', 'job-id'] : asked;
    const count = limit?.tag === 'integer' && limit.value > 0 ? limit.value : jobs.length;
    return { groups: jobs.slice(0, count).map((job) => this.#described(job, call, wanted)) };
  }

  #described(job: IppJob, call: Call, asked: readonly string[]): IppGroup {
    const description = jobDescription(job, this.#around(job, call));
    const template = job.ticket.attributes;
    const groups = { 'job-description': description, 'job-template': template };
    return { tag: 'job', attributes: selected(asked, [...description, ...template], groups) };
  }

  #outcome(job: IppJob, call: Call): IppGroup {
    return { tag: 'job', attributes: jobOutcome(job, this.#around(job, call)) };
  }

  #around(job: IppJob, { view }: Call): JobSurroundings {
    return { printerUri: view.uri, before: this.#host.spool.before(job), since: view.since };
  }

  /** The job that job-uri, or printer-uri and job-id, name. */
  #job({ operation }: Call): IppJob {
    const target = operation[2];
    const [value] = target?.values ?? [];
    if (target?.name === 'job-uri' && value?.tag === 'uri') {
      const id = /\/(\d{1,9})$/.exec(value.value)?.[1];
      if (id === undefined) throw new IppRefusal('client-error-not-found', 'job-uri names no job');
      return this.#host.spool.find(Number(id));
    }
    const [id] = valuesOf(operation, 'job-id');
    if (id?.tag !== 'integer') throw new IppRefusal('client-error-bad-request', 'job-id is missing');
    return this.#host.spool.find(id.value);
  }

  // The printer

  #getPrinter({ operation, view }: Call): Answer {
    const format = valuesOf(operation, 'document-format')[0];
    const supported: readonly string[] = DOCUMENT_FORMATS;
    if (format?.tag === 'mimeMediaType' && !supported.includes(format.value.toLowerCase())) {
      const unsupported = [{ name: 'document-format', values: [format] }];
      throw new IppRefusal('client-error-document-format-not-supported', format.value, unsupported);
    }
    return { groups: [{ tag: 'printer', attributes: printerAttributes(view, requested(operation)) }] };
  }

  #done(change: () => void): Answer {
    change();
    return {};
  }
}

const UNSUPPORTED: StatusName = 'client-error-attributes-or-values-not-supported';
const IGNORED: StatusName = 'successful-ok-ignored-or-substituted-attributes';
/** IPP counts octets, 255 in a name; a UTF-16 unit is at most three. */
const LONGEST_NAME = 85;

function jobName({ operation }: Call): string {
  for (const attribute of ['job-name', 'document-name']) {
    const [value] = valuesOf(operation, attribute);
    if ((value?.tag === 'name' || value?.tag === 'nameWithLanguage') && value.value !== '') {
      return value.value.slice(0, LONGEST_NAME);
    }
  }
  return 'Untitled';
}

function flag(attributes: readonly IppAttribute[], name: string): boolean | undefined {
  const [value] = valuesOf(attributes, name);
  return value?.tag === 'boolean' ? value.value : undefined;
}
