/** The form in which values of records are compared when jobs are searched by them. */

const LEAST = 3;
const MOST = 200;

/** Without case and spaces around it. @returns undefined for a text that is too short or too long to be searched for */
export function searchableValue(value: string): string | undefined {
  if (value.length > 2 * MOST) return undefined;
  const text = value.replaceAll('\0', '').toWellFormed().normalize('NFC').trim().toLowerCase();
  return text.length < LEAST || text.length > MOST ? undefined : text;
}
