/** A job that came by IPP, as its row has it and as IPP tells of it. */
import { z } from 'zod';
import type { IppAttribute } from '../../../drivers/ipp/message.ts';
import type { IppJobState } from '../../../drivers/ipp/names.ts';
import { documentTemplate } from '../../contract/document-template.ts';
import { type JobStatus, jobStatus } from '../../contract/job-life.ts';
import { tolerantFault, tolerantReasons } from '../../contract/read-report.ts';
import { NOBODY } from '../../ipp/operations.ts';
import type { ToldJob } from '../../ipp/told-job.ts';
import { enumeration, integer, keyword } from '../../ipp/values.ts';

const page = documentTemplate.shape.page.unwrap().shape;

/** What a job was asked for with. */
const keptTicket = z.object({
  copies: z.int(),
  /** The printer's format, by its ID, and its media's name. */
  format: z.string(),
  media: z.string(),
  turn: page.turn,
  fit: page.fit,
  pages: page.pages,
});
export type KeptTicket = z.output<typeof keptTicket>;

export const doorRow = z.object({
  number: z.int(),
  name: z.string().nullable(),
  sender: z.string().nullable(),
  ticket: keptTicket,
  octets: z.int(),
  ended: z.enum(['canceled', 'aborted']).nullable(),
  message: z.string().nullable(),
  created_at: z.date(),
  /** Its document has not come in time. */
  late: z.boolean(),
  job_id: z.string().nullable(),
  account: z.string().nullable(),
  status: jobStatus.nullable(),
  printed: z.int().nullable(),
  reasons: tolerantReasons.nullable(),
  error: tolerantFault.nullable(),
  stops: z.boolean().nullable(),
  updated_at: z.date().nullable(),
  begun_at: z.date().nullable(),
  before: z.coerce.number(),
});
type Row = z.output<typeof doorRow>;

export type DoorJob = ToldJob & { readonly ticket: KeptTicket; readonly jobId: string | undefined };

const STATES = {
  queued: 'pending',
  printing: 'processing',
  held: 'pending-held',
  printed: 'completed',
  failed: 'aborted',
  canceled: 'canceled',
} as const satisfies Record<JobStatus, IppJobState>;

const ENDED: readonly IppJobState[] = ['completed', 'aborted', 'canceled'];

/** State, reasons and what people are told of them. */
function standingOf(row: Row): Pick<ToldJob, 'state' | 'reasons' | 'message'> {
  const { status } = row;
  if (status === null) {
    if (row.ended === 'canceled')
      return { state: 'canceled', reasons: ['job-canceled-by-user'], message: row.message ?? '' };
    if (row.ended === 'aborted' || row.late) {
      const message = row.message ?? 'no document came';
      return { state: 'aborted', reasons: ['aborted-by-system'], message };
    }
    return { state: 'pending', reasons: ['job-data-insufficient'], message: '' };
  }
  const waits = status === 'printing' && (row.reasons?.length ?? 0) > 0;
  const message = row.error?.message ?? (waits ? `the printer waits: ${row.reasons?.join(', ')}` : '');
  const state = waits ? 'processing-stopped' : STATES[status];
  const reasons = {
    queued: [],
    printing: [
      ...(waits ? ['printer-stopped'] : ['job-printing']),
      ...(row.stops ? ['processing-to-stop-point'] : []),
    ],
    // Nobody knows what is out: a person looks.
    held: ['job-hold-until-specified'],
    printed: ['job-completed-successfully'],
    failed: ['aborted-by-system'],
    canceled: ['job-canceled-by-user'],
  }[status];
  return { state, reasons, message };
}

/** orientation-requested turns anticlockwise. */
const ORIENTATIONS = { 0: 3, 90: 5, 180: 6, 270: 4 } as const;
const SCALINGS = { none: 'none', shrink: 'auto-fit', fill: 'fit' } as const;

function templateOf({ copies, media, turn, fit }: KeptTicket): IppAttribute[] {
  return [
    integer('copies', copies),
    keyword('media', media),
    enumeration('orientation-requested', ORIENTATIONS[turn]),
    keyword('print-scaling', SCALINGS[fit]),
  ];
}

export function doorJobOf(row: Row): DoorJob {
  const standing = standingOf(row);
  const { ticket } = row;
  return {
    ...standing,
    id: row.number,
    name: row.name ?? 'Untitled',
    user: row.sender ?? NOBODY,
    octets: row.octets,
    printed: row.printed ?? 0,
    before: row.before,
    created: row.created_at.getTime(),
    processing: row.begun_at?.getTime(),
    ended: ENDED.includes(standing.state) ? (row.updated_at ?? row.created_at).getTime() : undefined,
    template: templateOf(ticket),
    ticket,
    jobId: row.job_id ?? undefined,
  };
}
