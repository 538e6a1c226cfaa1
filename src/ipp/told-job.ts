/**
 * A job as an IPP server tells of it, whoever prints it.
 *
 * Source: RFC 8011 §5.3 (attributes and states).
 */
import type { IppAttribute } from '../../drivers/ipp/message.ts';
import { IPP_JOB_STATES, type IppJobState } from '../../drivers/ipp/names.ts';
import { dateTime, enumeration, integer, integerOrNone, keyword, named, text, uri } from './values.ts';

export interface ToldJob {
  readonly id: number;
  readonly name: string;
  /** Who sent it, as they say. */
  readonly user: string;
  readonly state: IppJobState;
  /** job-state-reasons. */
  readonly reasons: Iterable<string>;
  /** Why it is as it is, for people. */
  readonly message: string;
  /** Bytes of its document. */
  readonly octets: number;
  /** Labels that are out. */
  readonly printed: number;
  /** Jobs that will print before it. */
  readonly before: number;
  /** ms since 1970; undefined: it has not come so far. */
  readonly created: number;
  readonly processing: number | undefined;
  readonly ended: number | undefined;
  /** The job template attributes that it was made with. */
  readonly template: readonly IppAttribute[];
}

interface JobSurroundings {
  /** `ipp://host:port/ipp/print` as the client knows it. */
  readonly printerUri: string;
  /** When the printer was switched on, ms since 1970. */
  readonly since: number;
}

/** Seconds on the printer's clock, which starts at 1 when it is switched on (RFC 8011 §5.4.29). */
export function upTime(at: number, since: number): number {
  return Math.max(1, 1 + Math.floor((at - since) / 1000));
}

/** What an operation that makes or changes a job answers (RFC 8011 §4.2.1.2). */
export function jobOutcome(job: ToldJob, { printerUri }: JobSurroundings): IppAttribute[] {
  const reasons = [...job.reasons];
  return [
    uri('job-uri', `${printerUri}/${job.id}`),
    integer('job-id', job.id),
    enumeration('job-state', IPP_JOB_STATES.indexOf(job.state) + 3),
    keyword('job-state-reasons', ...(reasons.length === 0 ? ['none'] : reasons)),
    text('job-state-message', job.message),
    integer('number-of-intervening-jobs', job.before),
  ];
}

export function jobDescription(job: ToldJob, around: JobSurroundings): IppAttribute[] {
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
