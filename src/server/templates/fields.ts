import type { Template } from '../../contract/template.ts';
import { parsePlaceholders } from '../../render/merge.ts';

export function templateFields(template: Template): string[] {
  const texts =
    template.language === 'zpl'
      ? [{ text: template.source, at: '/source' }]
      : template.elements.map((element, index) => ({
          text: element.type === 'text' ? element.text : element.type === 'barcode' ? element.value : '',
          at: `/elements/${index}`,
        }));
  const used = texts.flatMap(({ text, at }) =>
    parsePlaceholders(text, at).flatMap((part) => (typeof part === 'string' ? [] : [part.field])),
  );
  return [...new Set([...template.fields.map((field) => field.name), ...used])];
}
