/** A saved template with its content, and facts about its fields and its size. */
import { z } from 'zod';
import { templateDraft, templateView } from '../../src/contract/admin.ts';
import { template } from '../../src/contract/template.ts';
import type { TemplateProblem } from '../../src/contract/template-problem.ts';

export const savedTemplate = templateView.extend({
  template: z.unknown(),
  draft: templateDraft.omit({ template: true }).optional(),
});
export type SavedTemplate = z.infer<typeof savedTemplate>;

export type FieldFacts = {
  name: string;
  sample: string | undefined;
  default: string | undefined;
  /** What people read in place of the field's name. */
  caption: string;
};

/** Every field that the label prints, with its sample and its default if the template declares them. */
export function fieldsOf({ fields, template: body }: SavedTemplate): FieldFacts[] {
  const known = template.safeParse(body);
  const declared = new Map((known.success ? known.data.fields : []).map((field) => [field.name, field]));
  return fields.map((name) => ({
    name,
    sample: declared.get(name)?.sample,
    default: declared.get(name)?.default,
    caption: declared.get(name)?.caption || name,
  }));
}

/** Finds `{{name}}` and `{{name | filter}}` in any member of an element. */
const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;

/** The field that a problem with a record is about; undefined: it is about none, or about several. */
export function fieldOf(
  { pointer, message }: TemplateProblem,
  { fields, template: body }: SavedTemplate,
): string | undefined {
  const [, said] = /^field "([^"]+)"/.exec(message) ?? [];
  if (said !== undefined) return fields.find((name) => name === said);
  const [, at] = /^\/elements\/(\d+)/.exec(pointer) ?? [];
  const { data } = template.safeParse(body);
  const element = at === undefined || data?.language !== 'platen' ? undefined : data.elements[Number(at)];
  const placeholders = JSON.stringify(element ?? '').matchAll(PLACEHOLDER);
  const named = new Set([...placeholders].map(([, inside = '']) => inside.split('|')[0]?.trim()));
  const [only, ...more] = fields.filter((name) => named.has(name));
  return more.length === 0 ? only : undefined;
}

/** The size of the label, mm; undefined if the template does not say it. */
export function sizeOf({ template: body }: SavedTemplate): { width: number; height: number } | undefined {
  const { data } = template.safeParse(body);
  if (data?.width === undefined || data.height === undefined) return undefined;
  return { width: data.width, height: data.height };
}

/** The ZPL of a template that is a program; undefined for a template that is drawn. */
export function sourceOf({ template: body }: SavedTemplate): string | undefined {
  const { data } = template.safeParse(body);
  return data?.language === 'zpl' ? data.source : undefined;
}
