/**
 * Placeholders: `{{name}}` in a template's text stands for a field of the record, or for a built-in of the job;
 * `{{name | filter}}` for what a filter makes of it.
 *
 * A template is merged once, from left to right: what a value holds is never read as a placeholder again.
 */

import { JobFaultError } from '../contract/fault.ts';
import { LIMITS } from '../contract/limits.ts';
import type { LabelRecord, RecordValue } from '../contract/print-request.ts';
import { because, becauseOf, type Reason, reasonText } from '../contract/reason.ts';
import { fieldName } from '../contract/template-members.ts';
import { type Defaults, isConstant } from './built-ins.ts';
import { numberText } from './decimal.ts';
import { compileFilters, type Filter, FilterFault, ValueFault } from './filters.ts';

export interface Placeholder {
  readonly field: string;
  /** What is done to the value before it is printed. */
  readonly filter: Filter | undefined;
}
export type Part = string | Placeholder;

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;

/**
 * Splits a text at its placeholders. Blanks inside the braces do not count.
 * @throws JobFaultError `template-invalid`: something other than a field's name and filters stands in double braces, or
 * they are not closed
 */
export function parsePlaceholders(text: string, element?: string): Part[] {
  const parts: Part[] = [];
  let from = 0;
  const literal = (piece: string) => {
    const open = piece.indexOf('{{');
    const why = because('placeholder-open', { placeholder: '{{name}}' });
    if (open >= 0) throw refusal(piece.slice(open, open + 60), why, element);
    if (piece !== '') parts.push(piece);
  };
  for (const match of text.matchAll(PLACEHOLDER)) {
    const inner = match[1] ?? '';
    const pipe = inner.indexOf('|');
    const name = fieldName.safeParse((pipe < 0 ? inner : inner.slice(0, pipe)).trim());
    const invalid = (why: Reason) => refusal(match[0].slice(0, 60), why, element);
    if (!name.success) throw invalid(because('placeholder-name', { placeholder: '{{name}}' }));
    literal(text.slice(from, match.index));
    try {
      parts.push({ field: name.data, filter: pipe < 0 ? undefined : compileFilters(inner.slice(pipe)) });
    } catch (error) {
      if (!(error instanceof FilterFault)) throw error;
      throw invalid(error.said);
    }
    from = match.index + match[0].length;
  }
  literal(text.slice(from));
  return parts;
}

function refusal(found: string, why: Reason, element: string | undefined): JobFaultError {
  const said = becauseOf('not-a-placeholder', { found: JSON.stringify(found) }, why);
  return new JobFaultError(
    'template-invalid',
    `${element === undefined ? '' : `${element}: `}${reasonText(said)}`,
    { reason: said, ...(element === undefined ? {} : { element }) },
  );
}

/** How a value is printed: numbers in digits, booleans as JavaScript writes them, null as nothing. */
function valueText(value: RecordValue | undefined, fallback: string): string {
  if (value === undefined || value === null) return fallback;
  if (typeof value === 'number') return numberText(value);
  return typeof value === 'string' ? value : String(value);
}

interface MergeText {
  /** The fields in it, in order. None: the text is the same for every record. */
  readonly fields: readonly string[];
  /**
   * @param transform applied to each value, not to the template's own text
   * @throws ValueFault also where the text gets longer than `LIMITS.filledText`
   */
  fill(record: LabelRecord, transform?: (value: string) => string): string;
}

/** Own properties only: a field may be called `constructor`. */
function fieldText(record: LabelRecord, name: string, scope: Defaults): string {
  return valueText(Object.hasOwn(record, name) ? record[name] : undefined, scope.get(name) ?? '');
}

/** What a placeholder prints for a record. @throws ValueFault naming the field */
export function placeholderText(
  { field, filter }: Placeholder,
  record: LabelRecord,
  scope: Defaults,
): string {
  if (isConstant(field) && !scope.has(field)) {
    throw new Error(`${field} needs the job that the label is made for`);
  }
  const value = fieldText(isConstant(field) ? {} : record, field, scope);
  if (filter === undefined) return value;
  try {
    return filter(value, scope.get('$timeZone') ?? 'UTC');
  } catch (error) {
    if (!(error instanceof ValueFault)) throw error;
    throw new ValueFault(error.said, field);
  }
}

/** What is the same for every label of a job becomes the template's own text. */
function withoutConstants(parts: readonly Part[], scope: Defaults): Part[] {
  return parts.map((part) => {
    if (typeof part === 'string' || !isConstant(part.field)) return part;
    return placeholderText(part, {}, scope);
  });
}

/** @throws JobFaultError `template-invalid` */
export function compileText(text: string, scope: Defaults, element?: string): MergeText {
  const parts = withoutConstants(parsePlaceholders(text, element), scope);
  const fields = parts.flatMap((part) => (typeof part === 'string' ? [] : [part.field]));
  const fill = (record: LabelRecord, transform?: (value: string) => string): string => {
    let filled = '';
    for (const part of parts) {
      if (typeof part === 'string') filled += part;
      else {
        const value = placeholderText(part, record, scope);
        filled += transform === undefined ? value : transform(value);
      }
      // A value may be long, and may be asked for thousands of times.
      if (filled.length > LIMITS.filledText) {
        throw new ValueFault(because('text-too-long', { most: LIMITS.filledText }));
      }
    }
    return filled;
  };
  return { fields, fill };
}
