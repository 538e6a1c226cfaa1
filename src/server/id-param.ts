import { z } from 'zod';

/** A route's parameter `:id`. */
export const idParam = z.object({ id: z.string() });
