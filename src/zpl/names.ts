/** Names of the objects (graphics, fonts, formats) that a ZPL printer stores. */
import { createHash } from 'node:crypto';

/** Longest name and extension, characters; the rest is cut off. Firmware has such limits too. */
const NAME = 16;
const EXTENSION = 3;

/** The full name `d:o.x` in upper case, with the printer's defaults for the parts that are left out. */
export function objectName(text: string, extension: string): string {
  const match = /^(?:([A-Z]):)?([^.:]*)(?:\.(.*))?$/.exec(text.trim().toUpperCase());
  const name = match?.[2]?.slice(0, NAME) || 'UNKNOWN';
  return `${match?.[1] ?? 'R'}:${name}.${match?.[3]?.slice(0, EXTENSION) || extension}`;
}

/**
 * A name for an object that a job stores in a printer's memory, which other jobs and senders share.
 *
 * The name has six characters, of the eight that a name may have, because every label repeats it. It is a
 * hash of the job's ID: two jobs get the same name once in 60 million, and a job that continues after a crash
 * overwrites its own.
 * @param kind a letter for the kind of object
 */
export function ownName(jobId: string, kind: 'G' | 'P'): string {
  const hash = createHash('sha256').update(jobId).digest().readBigUInt64BE();
  return `${kind}${(hash % 36n ** 5n).toString(36).toUpperCase().padStart(5, '0')}`;
}
