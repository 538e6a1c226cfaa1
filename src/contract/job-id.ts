/** A job's ID and round, apart from `queued-job.ts`, so that code that only names jobs loads no templates. */
import { z } from 'zod';

export const jobId = z.string().regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);

/** How often a person has had the job go on after it had ended; 0 (left out): never. */
export const round = z.int().min(1).max(10_000);
