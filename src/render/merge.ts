/**
 * Placeholders: `{{name}}` in a template's text stands for a field of the record.
 *
 * A template is merged once, from left to right: what a value holds is never read as a placeholder again.
 */
import { JobFaultError } from '../contract/fault.ts';
import type { LabelRecord, RecordValue } from '../contract/print-request.ts';
import { fieldName, type TemplateField } from '../contract/template.ts';

export interface Placeholder {
  readonly field: string;
}
export type Part = string | Placeholder;

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;

/**
 * Splits a text at its placeholders. Blanks inside the braces do not count.
 * @throws JobFaultError `template-invalid`: something other than a field's name stands in double braces
 */
export function parsePlaceholders(text: string, element?: string): Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const match of text.matchAll(PLACEHOLDER)) {
    const name = fieldName.safeParse((match[1] ?? '').trim());
    if (!name.success) {
      const what = JSON.stringify(match[0].slice(0, 60));
      throw new JobFaultError(
        'template-invalid',
        `${what} is not a placeholder: expected {{name}} with the name of a field`,
        element === undefined ? {} : { element },
      );
    }
    if (match.index > from) parts.push(text.slice(from, match.index));
    parts.push({ field: name.data });
    from = match.index + match[0].length;
  }
  if (from < text.length) parts.push(text.slice(from));
  return parts;
}

/** How a value is printed: numbers and booleans as JavaScript writes them, null as nothing. */
export function valueText(value: RecordValue | undefined, fallback: string): string {
  if (value === undefined || value === null) return fallback;
  return typeof value === 'string' ? value : String(value);
}

export interface MergeText {
  /** The fields in it, in order. None: the text is the same for every record. */
  readonly fields: readonly string[];
  /** @param transform applied to each value, not to the template's own text */
  fill(record: LabelRecord, transform?: (value: string) => string): string;
}

/** What missing or null fields print. */
export function fieldDefaults(fields: readonly TemplateField[]): ReadonlyMap<string, string> {
  return new Map(fields.map((field) => [field.name, field.default ?? '']));
}

/** Own properties only: a field may be called `constructor`. */
export function fieldText(record: LabelRecord, name: string, defaults: ReadonlyMap<string, string>): string {
  return valueText(Object.hasOwn(record, name) ? record[name] : undefined, defaults.get(name) ?? '');
}

/** @throws JobFaultError `template-invalid` */
export function compileText(
  text: string,
  defaults: ReadonlyMap<string, string>,
  element?: string,
): MergeText {
  const parts = parsePlaceholders(text, element);
  const fields = parts.flatMap((part) => (typeof part === 'string' ? [] : [part.field]));
  const fill = (record: LabelRecord, transform?: (value: string) => string): string => {
    let filled = '';
    for (const part of parts) {
      if (typeof part === 'string') filled += part;
      else {
        const value = fieldText(record, part.field, defaults);
        filled += transform === undefined ? value : transform(value);
      }
    }
    return filled;
  };
  return { fields, fill };
}
