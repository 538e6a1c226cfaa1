/** The dynamic fields of a template: what the keys of a job's records are compared with. */
import type { Template } from '../contract/template.ts';
import { parsePlaceholders } from './merge.ts';
import { compileRawZpl } from './raw-zpl.ts';

/**
 * The fields that a template declares or uses; declared ones first, then in order of appearance.
 * @throws JobFaultError `template-invalid`
 */
export function templateFields(template: Template): string[] {
  const fields = new Set(template.fields.map((field) => field.name));
  if (template.language === 'zpl') {
    for (const field of compileRawZpl(template).fields) fields.add(field);
    return [...fields];
  }
  for (const [index, element] of template.elements.entries()) {
    const text = element.type === 'text' ? element.text : element.type === 'barcode' ? element.value : '';
    for (const part of parsePlaceholders(text, `/elements/${index}`)) {
      if (typeof part !== 'string') fields.add(part.field);
    }
  }
  return [...fields];
}
