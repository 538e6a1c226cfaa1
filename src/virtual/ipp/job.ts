/**
 * A job of a virtual IPP printer, from the first byte of its request to its end.
 *
 *     pending ⇄ pending-held        canceled, aborted: from any state before
 *        └→ processing ⇄ processing-stopped → completed
 *
 * Source: RFC 8011 §5.3 (states).
 */
import type { IppAttribute } from '../../../drivers/ipp/message.ts';
import type { IppJobState } from '../../../drivers/ipp/names.ts';
import type { JobTicket } from '../../ipp/ticket.ts';
import type { ToldJob } from '../../ipp/told-job.ts';

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

export class IppJob implements ToldJob {
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
  readonly #before: (job: IppJob) => number;
  /** Set when the job is asked to end; a label being printed is finished first. */
  stopping: { state: 'canceled' | 'aborted'; reasons: readonly string[]; message: string } | undefined;

  /** @param before counts the jobs that will print before it */
  constructor(
    id: number,
    { name, user, ticket }: Pick<IppJob, 'name' | 'user' | 'ticket'>,
    before: (job: IppJob) => number,
  ) {
    this.id = id;
    this.name = name;
    this.user = user;
    this.ticket = ticket;
    this.#before = before;
    if (ticket.hold) {
      this.state = 'pending-held';
      this.reasons.add('job-hold-until-specified');
    }
  }

  get before(): number {
    return this.#before(this);
  }

  get template(): readonly IppAttribute[] {
    return this.ticket.attributes;
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
    return { id, name, state, reasons: this.reasons.size === 0 ? ['none'] : [...this.reasons], printed };
  }
}
