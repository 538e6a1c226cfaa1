/**
 * A job of a virtual IPP printer, from the first byte of its request to its end.
 *
 *     pending ⇄ pending-held        canceled, aborted: from any state before
 *        └→ processing ⇄ processing-stopped → completed
 *
 * Source: RFC 8011 §5.3 (attributes and states).
 */
import type { IppAttribute } from '../../../drivers/ipp/message.ts';
import { IPP_JOB_STATES, type IppJobState } from '../../../drivers/ipp/names.ts';
import type { JobTicket } from './ticket.ts';
import { dateTime, enumeration, integer, integerOrNone, keyword, named, text, uri } from './values.ts';

export type DocumentFormat = 'application/pdf' | 'application/vnd.zebra-zpl';

export interface SpooledDocument {
  readonly format: DocumentFormat;
  readonly bytes: Buffer;
}

/** What a virtual printer reports of a job. */
export interface IppJobReport {
  readonly id: number;
  readonly name: string;
  readonly state: IppJobState;
  /** job-state-reasons. */
  readonly reasons: readonly string[];
  /** Labels that are out. */
  readonly printed: number;
}

const ENDED: ReadonlySet<IppJobState> = new Set(['canceled', 'aborted', 'completed']);

export class IppJob {
  readonly id: number;
  readonly name: string;
  readonly user: string;
  readonly ticket: JobTicket;
  readonly created = Date.now();
  state: IppJobState = 'pending';
  readonly reasons = new Set<string>();
  /** Why it ended as it did, for people. */
  message = '';
  document: SpooledDocument | undefined;
  /** Bytes of the document received; they count against the spool until the job has ended. */
  octets = 0;
  printed = 0;
  processing: number | undefined;
  ended: number | undefined;
  /** Set when the job is asked to end; a label being printed is finished first. */
  stopping: { state: 'canceled' | 'aborted'; reasons: readonly string[]; message: string } | undefined;

  constructor(id: number, name: string, user: string, ticket: JobTicket) {
    this.id = id;
    this.name = name;
    this.user = user;
    this.ticket = ticket;
    if (ticket.hold) {
      this.state = 'pending-held';
      this.reasons.add('job-hold-until-specified');
    }
  }

  get over(): boolean {
    return ENDED.has(this.state);
  }

  /** Its document is still to come. */
  get incoming(): boolean {
    return this.reasons.has('job-incoming') || this.reasons.has('job-data-insufficient');
  }

  end(state: 'canceled' | 'aborted' | 'completed', reasons: readonly string[], message = ''): void {
    this.state = state;
    this.reasons.clear();
    for (const reason of reasons) this.reasons.add(reason);
    this.message = message;
    this.ended = Date.now();
    this.document = undefined;
    this.stopping = undefined;
  }

  report(): IppJobReport {
    const { id, name, state, printed } = this;
    return { id, name, state, reasons: this.reasonList(), printed };
  }

  reasonList(): string[] {
    return this.reasons.size === 0 ? ['none'] : [...this.reasons];
  }
}

export interface JobSurroundings {
  /** `ipp://host:port/ipp/print` as the client knows it. */
  readonly printerUri: string;
  /** Jobs that will print before this one. */
  readonly before: number;
  /** When the printer was switched on, ms since 1970. */
  readonly since: number;
}

/** Seconds on the printer's clock, which starts at 1 when it is switched on (RFC 8011 §5.4.29). */
export function upTime(at: number, since: number): number {
  return Math.max(1, 1 + Math.floor((at - since) / 1000));
}

/** What an operation that makes or changes a job answers (RFC 8011 §4.2.1.2). */
export function jobOutcome(job: IppJob, { printerUri, before }: JobSurroundings): IppAttribute[] {
  return [
    uri('job-uri', `${printerUri}/${job.id}`),
    integer('job-id', job.id),
    enumeration('job-state', IPP_JOB_STATES.indexOf(job.state) + 3),
    keyword('job-state-reasons', ...job.reasonList()),
    text('job-state-message', job.message),
    integer('number-of-intervening-jobs', before),
  ];
}

export function jobDescription(job: IppJob, around: JobSurroundings): IppAttribute[] {
  const seconds = (at: number | undefined) => (at === undefined ? undefined : upTime(at, around.since));
  return [
    ...jobOutcome(job, around),
    uri('job-printer-uri', around.printerUri),
    named('job-name', job.name),
    named('job-originating-user-name', job.user),
    integer('job-k-octets', Math.ceil(job.octets / 1024)),
    integer('job-impressions-completed', job.printed),
    integer('job-media-sheets-completed', job.printed),
    integer('number-of-documents', job.octets > 0 ? 1 : 0),
    integer('job-printer-up-time', upTime(Date.now(), around.since)),
    integer('time-at-creation', upTime(job.created, around.since)),
    integerOrNone('time-at-processing', seconds(job.processing)),
    integerOrNone('time-at-completed', seconds(job.ended)),
    dateTime('date-time-at-creation', job.created),
    dateTime('date-time-at-processing', job.processing),
    dateTime('date-time-at-completed', job.ended),
  ];
}
