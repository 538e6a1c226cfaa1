/** The agent's configuration, from a file or from the process that starts the agent. Times are in ms. */
import { X509Certificate } from 'node:crypto';
import { availableParallelism, hostname } from 'node:os';
import { z } from 'zod';
import { TransportError, transportTimeouts } from '../../drivers/connection.ts';
import { standardTransports } from '../../drivers/transports/index.ts';
import type { Transports } from '../../drivers/transports/transports.ts';
import { MOST_LEASE } from '../contract/lane.ts';
import { agentId } from '../contract/report.ts';
import { tenantId } from '../contract/tenant-id.ts';
import type { Logger } from '../log.ts';
import { discoveryConfig } from './discovery/discovery-config.ts';
import { confirmation, type PrinterConfig, printerConfig } from './printer-config.ts';

/** A configured printer has to have an address that can be driven. A printer that is only found need not have one. */
const configuredPrinter = (transports: Transports) =>
  printerConfig.superRefine(({ uri }, context) => {
    try {
      transports.check(uri);
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      context.addIssue({ code: 'custom', path: ['uri'], message: error.message });
    }
  });

/** The printers that people have added at the service, without those that this version cannot drive. */
export function entriesIn(said: unknown, transports: Transports, logger: Logger): PrinterConfig[] {
  const entry = configuredPrinter(transports);
  const all = z.array(z.unknown()).catch([]).parse(said);
  const entries = all.flatMap((one) => entry.safeParse(one).data ?? []);
  const left = all.length - entries.length;
  if (left > 0) logger.warn({ printers: left }, 'printers that were added cannot be driven');
  return entries;
}

/** Access to a printer or print server by IPP. It is apart from the printers, so that passwords are kept nowhere else. */
const accessEntry = z
  .strictObject({
    /** The host as in the printer's address, in any case: `labels.lab`, or `labels.lab:8631` for this port only. */
    host: z
      .string()
      .max(300)
      .regex(/^[^\s/@]+$/, { error: 'expected a host as in the address: labels.lab or labels.lab:8631' })
      .toLowerCase(),
    user: z.string().min(1).max(200).optional(),
    password: z.string().max(1_000).optional(),
    /** PEM of the authority that signed the printer's certificate. With it, the system's authorities do not count. */
    ca: z.string().max(100_000).refine(isCertificate, { error: 'expected a certificate in PEM' }).optional(),
    /** SHA-256 of the printer's own certificate: for certificates that no authority has signed. */
    fingerprint256: z
      .string()
      .regex(/^([0-9a-f]{2}:?){31}[0-9a-f]{2}$/i, {
        error: "expected a certificate's SHA-256, 64 hexadecimal digits",
      })
      .optional(),
    /** If the printer asks for Basic authentication, the password may be sent as it is to any device that answers there. */
    inClear: z.boolean().optional(),
  })
  .refine(({ user, password }) => password === undefined || user !== undefined, {
    path: ['user'],
    error: 'expected a user with the password',
  });

function isCertificate(pem: string): boolean {
  try {
    new X509Certificate(pem);
    return true;
  } catch {
    return false;
  }
}

const ms = z
  .int()
  .min(1)
  .max(30 * 24 * 3_600_000);

export const timings = z.strictObject({
  scan: ms.default(10_000),
  /** How often providers that cost next to nothing are scanned, and the printers that they list are tried while off. */
  near: ms.default(1_000),
  /** Longest time that one provider's scan may take. */
  scanTimeout: ms.default(8_000),
  heartbeat: ms.default(15_000),
  /**
   * If an agent that serves a printer is not heard from for this long, it loses the printer to another agent that reaches the
   * printer. If no other agent had asked for the printer shortly before, it takes four times as long.
   */
  lease: ms.min(1_000).max(MOST_LEASE).default(15_000),
  /** A printer that no provider lists is offline at once. It is dropped if it has not been there for this long. */
  dropAfter: ms.default(24 * 3_600_000),
  /** Status queries: the shortest pause, the longest while printing, the longest while the printer waits. */
  pollMin: ms.default(1),
  pollMax: ms.default(500),
  pollWaiting: ms.default(1_000),
  /** The counter of a printer is taken as final after the printer was idle, and its counter stood still, for this long. */
  settle: ms.default(1_500),
  /** If an idle printer has taken labels and not counted them for this long, it has lost them, and the job is held. */
  vanished: ms.default(15_000),
  reconnectMin: ms.default(200),
  reconnectMax: ms.default(5_000),
  /** A connection that no job uses is closed after this long, so that others can reach the printer. */
  idleConnection: ms.default(3_000),
  /** At a stop: how long to wait for the confirmation of labels under way before the job goes back to its lane. */
  confirm: ms.default(5_000),
  /** A render thread that answers nothing for this long is replaced. */
  renderStuck: ms.default(60_000),
  /** How long finished jobs stay in the journal: for longer than a queue may deliver a job a second time. */
  journalKeep: ms.default(72 * 3_600_000),
});
export type TimingConfig = z.infer<typeof timings>;

/** @param transports the transports that the addresses of printers may use */
export const agentConfigWith = (transports: Transports) =>
  z.strictObject({
    /** By default the ID is made at the first start, and kept in the data directory. */
    id: agentId.optional(),
    name: z
      .string()
      .trim()
      .min(1)
      .max(200)
      .default(() => hostname().slice(0, 200) || 'agent'),
    /** The tenant whose printers these are; null: printers for every tenant. */
    tenantId: tenantId.nullable().default(null),
    dataDir: z.string().min(1),
    printers: z.array(configuredPrinter(transports)).max(5_000).default([]),
    renderThreads: z
      .int()
      .min(1)
      .max(64)
      .default(() => Math.max(1, availableParallelism() - 1)),
    /** How far sending may run ahead of the labels that the printer says it has printed. */
    window: z
      .strictObject({
        labels: z.int().min(1).max(1_000).default(16),
        bytes: z
          .int()
          .min(1_024)
          .default(128 * 1_024),
      })
      .prefault({}),
    timings: timings.prefault({}),
    discovery: discoveryConfig.prefault({}),
    /** Counts for all printers for which nothing else is set. */
    confirmation: confirmation.default('device'),
    access: z.array(accessEntry).max(5_000).default([]),
    transport: transportTimeouts.prefault({}),
  });
export const agentConfig = agentConfigWith(standardTransports);
export type AgentConfig = z.infer<typeof agentConfig>;
export type RawAgentConfig = z.input<typeof agentConfig>;
