/** Says in words where something is wrong: translates a JSON pointer into a template, or into what a form sends. */
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
  if (pointer === '/source') return places.source;
  const path = namesIn(pointer.slice(1));
  const called = inForms();
  return Object.hasOwn(called, path) ? (called[path] ?? path) : path;
}

/** The labels that forms have for the members that they send. */
function inForms(): Readonly<Record<string, string>> {
  const { people, webhooks, alerts, signIn, print, printers, job } = t.value;
  return {
    login: people.login,
    name: people.name,
    role: people.role,
    url: webhooks.url,
    events: webhooks.events,
    to: alerts.to,
    password: signIn.password,
    numberCopies: print.copies,
    printerId: print.printer,
    format: print.format,
    orientation: print.orientation,
    labels: job.reprintWhich,
    place: printers.place,
    group: printers.group,
    note: printers.note,
  };
}

function namesIn(path: string): string {
  const names = path.split('/').map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  return names.join(' › ');
}
