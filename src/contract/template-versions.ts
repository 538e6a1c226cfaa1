/**
 * GET /app/tenants/{id}/templates/{templateId}/versions and …/versions/{number}: what a template was. To restore one is to
 * save it again, by PUT: a new version that equals the old one. GET …/uses: what has printed it lately.
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
  /** Of so many days. */
  days: z.int(),
  jobs: z.int(),
  /** There are more jobs than are counted. */
  more: z.boolean(),
  printers: z.array(z.object({ id: z.string(), name: z.string(), jobs: z.int(), last: z.iso.datetime() })),
});
export type TemplateUses = z.infer<typeof templateUses>;
