/** Words for a JSON pointer into a template: the place where something is wrong. */
import { t } from '../texts/texts.ts';

/** `/elements/3/x`, RFC 6901. */
const IN_LIST = /^\/(elements|fields|images|fonts)\/(\d{1,6})(?:\/(.*))?$/;

/** The message with the place before it: `Element 4, x: …`. */
export function placeWords(pointer: string, said: string): string {
  const place = placeOf(pointer);
  return place === '' ? said : `${place}: ${said}`;
}

function placeOf(pointer: string): string {
  const { places } = t.value.problem;
  const [, list, index, member] = IN_LIST.exec(pointer) ?? [];
  if (list !== undefined) {
    const one = Object.entries(places).find(([name]) => name === list)?.[1] ?? list;
    return [`${one} ${Number(index) + 1}`, ...(member === undefined ? [] : [namesIn(member)])].join(', ');
  }
  return pointer === '/source' ? places.source : namesIn(pointer.slice(1));
}

function namesIn(path: string): string {
  const names = path.split('/').map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  return names.join(' › ');
}
