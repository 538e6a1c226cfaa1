/** Members that templates of several kinds have. */
import { z } from 'zod';
import { LIMITS } from './limits.ts';
import { saying } from './reason.ts';

/** mm */
export const length = z.number().positive().max(LIMITS.labelSide);

/** The exact name of a dynamic field. It may hold anything but braces, `|` (filters) and control characters. */
export const fieldName = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^\p{Cc}{}|\s](?:[^\p{Cc}{}|]*[^\p{Cc}{}|\s])?$/u, {
    error: saying('field-name', {}),
  });

export const templateField = z.strictObject({
  name: fieldName,
  /** Printed when a record does not carry the field. Without one, a missing field prints as nothing. */
  default: z.string().max(LIMITS.valueLength).optional(),
  /** Shown in previews and used by template checks. */
  sample: z.string().max(LIMITS.valueLength).optional(),
  /** What people who type its value read in place of its name. */
  caption: z.string().max(200).optional(),
  /** People know a job by the value of this field: lists of jobs show it. */
  reference: z.boolean().optional(),
});
export type TemplateField = z.infer<typeof templateField>;

/** Quarter turns, clockwise. */
export const rotation = z.literal([0, 90, 180, 270], { error: saying('rotation', {}) }).default(0);

/** The resolution that a template was made for. */
export const dpi = z.int().min(100).max(1200).optional();
