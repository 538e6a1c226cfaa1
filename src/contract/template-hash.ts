/** The hash by which a template is known where it is stored once for many jobs. */
import { createHash } from 'node:crypto';
import type { QueuedJob } from './queued-job.ts';

/** Hashes by template object, which many jobs share. */
const hashes = new WeakMap<QueuedJob['template'], string>();

/** SHA-256 of its JSON, in hex. */
export function templateHash(template: QueuedJob['template']): string {
  const known = hashes.get(template);
  if (known !== undefined) return known;
  const hash = hashOf(JSON.stringify(template));
  hashes.set(template, hash);
  return hash;
}

export function hashOf(json: string): string {
  return createHash('sha256').update(json).digest('hex');
}
