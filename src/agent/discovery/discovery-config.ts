/** Where an agent looks for printers, besides those that its configuration names. */
import { z } from 'zod';
import { fingerprint } from './fingerprints.ts';
import { targetsOf } from './providers/targets.ts';

/** Hosts, broadcast addresses and subnets: nobody else is ever asked. */
const targets = z
  .array(z.string())
  .min(1)
  .max(1_000)
  .superRefine((names, context) => {
    try {
      targetsOf(names);
    } catch (error) {
      context.addIssue(error instanceof Error ? error.message : 'expected IPv4 addresses or subnets');
    }
  });

const CUPS_SERVER = 'expected true, false or an address like ipp://server:631/, without a password';
const cupsServer = z
  .url({ protocol: /^ipps?$/, error: CUPS_SERVER })
  .regex(/^[^@]*$/, { error: CUPS_SERVER });

export const discoveryConfig = z.strictObject({
  /** Printers that announce themselves (Bonjour). */
  dnsSd: z.boolean().default(false),
  /** Addresses of the interfaces to listen on for them; by default all but loopback. */
  interfaces: z.array(z.ipv4()).max(32).exactOptional(),
  /** Queues of a CUPS server: this machine's, or those of the servers named. */
  cups: z.union([z.boolean(), cupsServer, z.array(cupsServer).min(1).max(20)]).default(false),
  /** What is plugged into this machine (Linux). */
  usb: z.boolean().default(false),
  /** Printers of the Windows spooler. */
  winspool: z.boolean().default(false),
  /** Zebra's own discovery, UDP 4201. */
  zebra: z.strictObject({ targets }).exactOptional(),
  snmp: z.strictObject({ targets, community: z.string().min(1).max(200).default('public') }).exactOptional(),
  /** What models are, where they do not say it themselves; looked at before what Platen knows. */
  fingerprints: z.array(fingerprint).max(1_000).default([]),
});
export type DiscoveryConfig = z.infer<typeof discoveryConfig>;
