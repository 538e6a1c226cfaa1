/**
 * GET /app/tenants/{id}/templates/{templateId}/versions and …/versions/{number}: a template's states.
 * Restoring one saves it again, by PUT: a new version that equals the old one. GET …/uses: what printed it
 * lately.
 */
import { z } from 'zod';

export const templateVersionView = z.object({
  /** From 1; the highest is what the template is now. */
  number: z.int(),
  name: z.string(),
  /** Who saved it; null: it is not known. */
  who: z.string().nullable(),
  at: z.iso.datetime(),
});
export type TemplateVersionView = z.infer<typeof templateVersionView>;
export const templateVersion = templateVersionView.extend({ template: z.unknown() });
export type TemplateVersion = z.infer<typeof templateVersion>;

export const templateUses = z.object({
  /** The number of days that are counted. */
  days: z.int(),
  jobs: z.int(),
  /** There are more jobs than are counted. */
  more: z.boolean(),
  printers: z.array(z.object({ id: z.string(), name: z.string(), jobs: z.int(), last: z.iso.datetime() })),
});
export type TemplateUses = z.infer<typeof templateUses>;
