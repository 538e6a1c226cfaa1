/** The printer that the rest of a stopped job is to go to, as the job's row keeps it until that is done. */
import { z } from 'zod';

export const movingTo = z.object({
  printerId: z.string(),
  printer: z.string(),
  format: z.string(),
  who: z.string(),
  why: z.string().exactOptional(),
  /** Why the rest could not go there. */
  refused: z.string().exactOptional(),
});
export type MovingTo = z.infer<typeof movingTo>;
