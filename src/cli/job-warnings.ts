/** What the service warns of with a job that it accepts: the header `Platen-Warnings` of its answer. */
import type { ValidationResult } from '../contract/admin.ts';

type Code = ValidationResult['warnings'][number]['code'];

/** What each code counts. */
const COUNTED: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'field-missing': 'fields missing in the records',
    'field-unknown': 'fields that the template does not have',
    'size-mismatch': 'differences between the template and the media in the printer',
    'off-label': 'parts of the template beyond the media',
  } satisfies Record<Code, string>),
);

/** One line for each code. A code of a later service is its own word. @param header a dictionary of RFC 9651 with numbers */
export function warningsIn(header: string | string[] | undefined): string[] {
  const members = [header ?? []]
    .flat()
    .join(',')
    .matchAll(/([a-z][a-z0-9-]{0,60})=(\d{1,15})/g);
  return Array.from(members, ([, code = '', count]) => {
    const said = COUNTED.get(code);
    return said === undefined ? `${code}: ${count}` : `${said}: ${count} [${code}]`;
  });
}
