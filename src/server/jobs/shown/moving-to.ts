/** Where what is left of a job goes, as it is kept beside the job until that is done. */
import { z } from 'zod';

export const movingTo = z.object({
  printerId: z.string(),
  printer: z.string(),
  format: z.string(),
  who: z.string(),
  why: z.string().exactOptional(),
  /** Why it was not taken there. */
  refused: z.string().exactOptional(),
});
export type MovingTo = z.infer<typeof movingTo>;
