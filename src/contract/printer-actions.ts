/**
 * What a person does to a printer: POST /app/printers/{id}/hold, …/resume, …/clear, …/hide, …/show, …/offer, …/withdraw, …/test,
 * PUT …/name, …/about, …/settings (`printSettings`: all that people set), …/grants (each answers with the printer), DELETE /app/printers/{id}. `scope` says whose
 * printer it is where two scopes have one of the same ID; what is done to a shared printer concerns all tenants.
 */
import { z } from 'zod';
import { givenText } from './given-text.ts';
import { jobBulkResult, why } from './job-actions.ts';
import { keptSettings, settingLimits } from './print-settings.ts';
import { printerView } from './printer-view.ts';
import { tenantId } from './tenant-id.ts';

export const printerTarget = z.strictObject({
  /** A tenant's ID, or `shared`. Left out: the only scope that has this printer. */
  scope: z.union([tenantId, z.literal('shared')]).optional(),
});

/** `GET /app/printers`. */
export const printerFilter = z.object({
  /** Lists the printers that no agent has any more and that nobody has forgotten. */
  gone: z.literal('true').optional(),
});

/** Jobs wait until it is resumed; what an agent has begun is printed. Answers with the printer. */
export const printerHold = z.strictObject({ why });

/** Cancels all jobs that wait for it. Answers with `jobBulkResult`. */
export const printerClear = z.strictObject({
  /** The job in progress, too: its agent stops it at a label. Else that is printed to its end. */
  printing: z.boolean().default(false),
  dryRun: z.boolean().default(false),
  why,
});
export const printerCleared = jobBulkResult;

/** What people call it here; null: as its agent calls it. Jobs may be sent to either name. */
export const printerRename = z.strictObject({
  name: givenText.trim().min(1).max(200).nullable(),
});

const said = (most: number) => givenText.trim().max(most);
/** What people say of it, to find it: where it stands, its group, anything else. Empty: nothing. Answers with the printer. */
export const printerAbout = z.strictObject({ place: said(200), group: said(100), note: said(2_000) });

/** Not offered where a printer is chosen (…/hide), or again (…/show); jobs that name it still print. */
export const printerHide = z.strictObject({});

/** Offered as an IPP printer (…/offer), or no more (…/withdraw); jobs that came by IPP print all the same. Answers with the printer. */
export const printerOffer = z.strictObject({});

/** All tenants that may use a shared printer; null: every tenant. What waits of others is held. */
export const printerGrant = z.strictObject({ tenants: z.array(tenantId).max(5_000).nullable() });

/** A job that prints one label, which says printer, format and time. Answers with its ID. */
export const printerTest = z.strictObject({
  /** The tenant that the job counts for. */
  tenant: tenantId,
  format: givenText.min(1).max(200).exactOptional(),
});
export const printerTested = z.object({ id: z.string() });

/** By whom and since when a printer is held. */
const printerHeld = z.object({ by: z.string(), at: z.iso.datetime(), why: z.string().nullable() });

/** A printer with its lane: what `GET /app/printers` says of each. */
export const printerDetails = printerView.extend({
  /** As its agents call it. */
  reportedName: z.string(),
  held: printerHeld.nullable(),
  ...printerAbout.partial().shape,
  /** The settings that people made, which override what its agent says. `formats` has both. */
  settings: keptSettings,
  /** The settings that people can make. */
  limits: settingLimits.default({}),
  /** Jobs that wait for it, that it prints and that wait for a person; each counted up to 1,000. */
  jobs: z.object({ queued: z.int(), printing: z.int(), held: z.int() }),
  /** Labels that came out since the day began, in UTC. */
  labelsToday: z.int(),
  /** Since when it is in its state, with its reasons. */
  since: z.iso.datetime().nullable(),
  /** The newest job of which labels are out. */
  lastJob: z.string().nullable(),
  /** No agent has it any more: it can be forgotten. */
  gone: z.boolean(),
  /** A virtual printer that this very installation runs. */
  virtual: z.boolean().default(false),
  /** The address at which IPP offers it; null: it is not offered. Left out: this service offers none. */
  ipp: z.string().nullable().exactOptional(),
  /** Test keys print here: it is a virtual printer, as the service knows itself. */
  forTests: z.boolean().default(false),
});
export type PrinterDetails = z.infer<typeof printerDetails>;

/** What a person can do to a virtual printer, in the words of `platen virtual fault`. */
export const VIRTUAL_FAULTS = ['media-empty', 'cover-open', 'power-off'] as const;
/** `PUT /app/printers/{id}/virtual`: sets exactly these of the three faults; answers as GET does. */
export const virtualFaults = z.strictObject({
  faults: z.array(z.enum(VIRTUAL_FAULTS)).max(VIRTUAL_FAULTS.length),
});
/** `GET /app/printers/{id}/virtual`; the labels' pictures are at `…/virtual/{number}.png`. */
export const virtualPrinter = z.object({
  /** All faults that are in effect. */
  faults: z.array(z.string()),
  /** Formats or jobs taken and not printed to their end. */
  waiting: z.int(),
  /** Labels that came out in its life; the newest has this number. */
  printed: z.int(),
});
export type VirtualPrinterView = z.infer<typeof virtualPrinter>;
