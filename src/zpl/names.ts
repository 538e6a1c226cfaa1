/** Names of what is stored in a printer. */
import { createHash } from 'node:crypto';

/** Longest name and extension that count, characters. Firmware has such limits too. */
const NAME = 16;
const EXTENSION = 3;

/** `d:o.x` in upper case, with the printer's defaults for what is left out. */
export function objectName(text: string, extension: string): string {
  const match = /^(?:([A-Z]):)?([^.:]*)(?:\.(.*))?$/.exec(text.trim().toUpperCase());
  const name = match?.[2]?.slice(0, NAME) || 'UNKNOWN';
  return `${match?.[1] ?? 'R'}:${name}.${match?.[3]?.slice(0, EXTENSION) || extension}`;
}

/**
 * A name for what a job stores in a printer, whose memory it shares with others.
 *
 * Six characters, of the eight that a name may have: every label repeats it. From the job's ID, so that two senders
 * at one printer, or two jobs, do not meet (one in 60 million), and a job that goes on after a crash overwrites its own.
 * @param kind a letter for what is stored
 */
export function ownName(jobId: string, kind: 'G' | 'P'): string {
  const hash = createHash('sha256').update(jobId).digest().readBigUInt64BE();
  return `${kind}${(hash % 36n ** 5n).toString(36).toUpperCase().padStart(5, '0')}`;
}
