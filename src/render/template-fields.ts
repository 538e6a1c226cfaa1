/** The dynamic fields of a template: what the keys of a job's records are compared with. */
import { JobFaultError } from '../contract/fault.ts';
import type { DesignedTemplate, Template } from '../contract/template.ts';
import { countsCopies, isBuiltIn } from '../values/built-ins.ts';
import { parsePlaceholders } from '../values/merge.ts';
import { compileRawZpl } from '../zpl/raw/template.ts';

/** Here every command is allowed; whether the tenant may use it is checked at import and at printing. */
const ANY = { printerCommands: true };

/**
 * The fields that a template declares or uses; declared ones first, then in order of appearance.
 * @throws JobFaultError `template-invalid`
 */
export function templateFields(template: Template): string[] {
  const fields = new Set(template.fields.map((field) => field.name));
  if (template.language === 'zpl') {
    for (const field of compileRawZpl(template, undefined, ANY).fields) fields.add(field);
    return [...fields];
  }
  if (template.language === 'document') return [...fields];
  for (const { pointer, text } of templateTexts(template)) {
    for (const field of fieldsIn(text, pointer)) fields.add(field);
  }
  return [...fields];
}

/**
 * Whether a template prints the number of the copy or of the label, so that a record's labels differ.
 * @throws JobFaultError `template-invalid`
 */
export function copiesDiffer(template: Template): boolean {
  if (template.language === 'document') return false;
  if (template.language === 'zpl') return compileRawZpl(template, undefined, ANY).countsCopies;
  return templateTexts(template).some(({ pointer, text }) =>
    parsePlaceholders(text, pointer).some((part) => typeof part !== 'string' && countsCopies(part.field)),
  );
}

/** Every text of a template that may have placeholders, with its JSON pointer. */
export function templateTexts(template: DesignedTemplate): { pointer: string; text: string }[] {
  return template.elements.flatMap((element, index) => {
    const pointer = `/elements/${index}`;
    const own = element.type === 'text' ? element.text : element.type === 'barcode' ? element.value : '';
    const image = element.type === 'image' ? element.image : undefined;
    return [
      { pointer, text: own },
      { pointer: `${pointer}/image`, text: image ?? '' },
      { pointer: `${pointer}/when`, text: element.when ?? '' },
    ].filter(({ text }) => text !== '');
  });
}

/**
 * What becomes of each field's value: `text`, `image` (it names a picture), `condition`, or a barcode's symbology. For raw ZPL
 * this is not known. Rules that came after the import may make a placeholder unreadable; it is left out.
 */
export function printedAs(template: Template): Map<string, Set<string>> {
  const uses = new Map<string, Set<string>>();
  if (template.language !== 'platen') return uses;
  for (const { pointer, text } of templateTexts(template)) {
    const [, , index, part] = pointer.split('/');
    const element = template.elements[Number(index)];
    const use =
      part === 'when' ? 'condition' : element?.type === 'barcode' ? element.symbology : element?.type;
    for (const field of readable(text, pointer)) {
      if (use !== undefined) uses.set(field, (uses.get(field) ?? new Set()).add(use));
    }
  }
  return uses;
}

function readable(text: string, pointer: string): string[] {
  try {
    return fieldsIn(text, pointer);
  } catch (error) {
    if (error instanceof JobFaultError) return [];
    throw error;
  }
}

/** The fields of records that an element of a designed template prints or asks for. */
export function fieldsAt(template: Template, element: string | undefined): string[] {
  if (template.language !== 'platen' || element === undefined) return [];
  const texts = templateTexts(template).filter(
    ({ pointer }) => pointer === element || pointer.startsWith(`${element}/`),
  );
  return [...new Set(texts.flatMap(({ pointer, text }) => fieldsIn(text, pointer)))];
}

/** The fields of records that a text uses. @throws JobFaultError `template-invalid` */
export function fieldsIn(text: string, pointer: string): string[] {
  return parsePlaceholders(text, pointer).flatMap((part) =>
    typeof part === 'string' || isBuiltIn(part.field) ? [] : [part.field],
  );
}
