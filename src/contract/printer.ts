/** What an agent says of a printer it found. */
import { z } from 'zod';
import { printerFormat } from './format.ts';

/**
 * IPP printer-state (RFC 8011 §5.4.11), and `unknown` for a printer that cannot be asked or did not answer:
 * unknown is never taken for OK.
 */
export const printerState = z.enum(['idle', 'processing', 'stopped', 'unknown']);
export type PrinterState = z.infer<typeof printerState>;

/** Of IPP's printer-state-reasons (RFC 8011 §5.4.12, PWG 5100.9), without severity suffix. */
export const IPP_REASONS = [
  'media-empty',
  'media-jam',
  'media-low',
  'marker-supply-empty',
  'cover-open',
  'paused',
  'spool-area-full',
  'connecting-to-device',
  'output-area-full',
] as const;
/** These, and words of our own. */
export const PRINTER_REASONS = [
  'offline',
  ...IPP_REASONS,
  'label-waiting',
  /** It holds part of a label that somebody has begun to send, and waits for the rest. */
  'label-unfinished',
  /** It prints, or has to print, labels that are not this job's. */
  'busy',
  /** It shows another certificate than it is known by, and is not talked to. */
  'certificate-unknown',
  /** Its configured address does not answer, and a device at another address claims to be it. */
  'found-elsewhere',
  /** Said of a waiting job: no agent has its printer any more, or none of those that have it reports. */
  'printer-gone',
  'agent-offline',
  /** The agent's disk takes nothing; of a job that its agent cannot go on with also: it is slow to take what is sent. */
  'agent-disk',
  'other',
] as const;
export const printerReason = z.enum(PRINTER_REASONS);
export type PrinterReason = z.infer<typeof printerReason>;

/** Most supplies that are told of one printer. */
export const MOST_SUPPLIES = 20;
/** Something that a printer uses up, in percent that are left; of a container that it fills, the room. */
export const printerSupply = z.object({
  name: z.string().min(1).max(100),
  left: z.int().min(0).max(100),
});
export type PrinterSupply = z.infer<typeof printerSupply>;
/** The percentages by which printers are counted whose lowest supply has at most so much left. */
export const SUPPLY_STEPS = [0, 5, 10, 25] as const;

/**
 * What an ID was made from, most trusted first. An ID from `address` or `queue` changes when the printer gets
 * another address or queue, and says so by its prefix.
 */
export const identityEvidence = z.enum(['serial', 'uuid', 'device-id', 'mac', 'queue', 'address']);
export type IdentityEvidence = z.infer<typeof identityEvidence>;

/** `<evidence>-<hash>`: part of its lane's name, so no colon, and never only digits. */
export const printerId = z.string().regex(/^(serial|uuid|device-id|mac|queue|address)-[a-z0-9]{8,64}$/);

/**
 * How it becomes known that a label is out. `count`: the printer counts what comes out. `pending`: it says that nothing
 * is pending. `job`: it ends its own job. `delivery`: what was delivered counts, because the configuration says so.
 * `person`: nobody else can tell, and the job is held.
 */
export const confirmedBy = z.enum(['count', 'pending', 'job', 'delivery', 'person']);
export type ConfirmedBy = z.infer<typeof confirmedBy>;

export const printerDescription = z.object({
  id: printerId,
  name: z.string().min(1).max(200),
  evidence: identityEvidence,
  /** How the agent reaches it, without credentials: `socket://10.0.0.7:9100`. */
  uri: z.string().max(500),
  model: z.string().max(200).optional(),
  state: printerState,
  reasons: z.array(printerReason).max(PRINTER_REASONS.length),
  /** Left out: it tells none. */
  supplies: z.array(printerSupply).max(MOST_SUPPLIES).optional(),
  /** The first is the printer's default. */
  formats: z.array(printerFormat).min(1).max(200),
  /** Left out: not known before it is reached. */
  confirmedBy: confirmedBy.optional(),
});
export type PrinterDescription = z.infer<typeof printerDescription>;

/**
 * An address that a configuration names, where nothing was ever reached. `uri` without credentials; `why` for a person;
 * `since`: the first of the tries that have failed.
 */
export const unreachedPrinter = z.object({
  uri: z.string().max(500),
  name: z.string().max(200).optional(),
  why: z.string().max(500),
  since: z.iso.datetime().optional(),
});
export type UnreachedPrinter = z.infer<typeof unreachedPrinter>;
