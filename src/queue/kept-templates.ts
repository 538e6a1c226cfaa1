/** A cache of the templates that this process has fetched: jobs with the same template share its object. */
import { LRUCache } from 'lru-cache';
import type { QueuedJob } from '../contract/queued-job.ts';

/** How many templates are kept at most, and how many characters of JSON in all. */
const MOST = 1_000;
const MOST_CHARACTERS = 16_000_000;

export function keptTemplates(): LRUCache<string, QueuedJob['template']> {
  return new LRUCache({ max: MOST, maxSize: MOST_CHARACTERS });
}
