/** Names for what a job stores in a printer, whose memory it shares with others. */
import { createHash } from 'node:crypto';

/**
 * Six characters, of the eight that a name may have: every label repeats it. From the job's ID, so that two senders
 * at one printer, or two jobs, do not meet (one in 60 million), and a job that goes on after a crash overwrites its own.
 * @param kind a letter for what is stored
 */
export function ownName(jobId: string, kind: 'G' | 'P'): string {
  const hash = createHash('sha256').update(jobId).digest().readBigUInt64BE();
  return `${kind}${(hash % 36n ** 5n).toString(36).toUpperCase().padStart(5, '0')}`;
}
