/** The names of the fields that a template's records have. */
import { JobFaultError } from '../../contract/fault.ts';
import type { Template } from '../../contract/template.ts';
import { templateFields } from '../../render/template-fields.ts';

const fieldNames = new WeakMap<Template, readonly string[]>();

/** The fields of records. A template that was imported under earlier rules may be invalid by now: it is read all the same. */
export function fieldsOf(body: Template): readonly string[] {
  const kept = fieldNames.get(body);
  if (kept !== undefined) return kept;
  let fields: string[];
  try {
    fields = templateFields(body);
  } catch (error) {
    if (!(error instanceof JobFaultError)) throw error;
    fields = body.fields.map(({ name }) => name);
  }
  fieldNames.set(body, fields);
  return fields;
}
