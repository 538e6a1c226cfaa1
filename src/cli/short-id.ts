/** Short IDs: as much of an ID as lists show, and as a person has to type. */
import type { AdminClient } from './admin-client.ts';
import { CommandFailure } from './failure.ts';

/** Characters of a UUID of version 7 that are shown: its time to the millisecond, and 12 random bits. */
const UUID = 18;
/** Characters of a printer's hash that are shown. */
const HASH = 8;
/** How many candidates an error names when a short ID fits several. */
const NAMED = 5;

/** The shortest beginning of each ID that is unique among them. */
export function shortIds(ids: readonly string[]): Map<string, string> {
  const unique = [...new Set(ids)];
  return new Map(
    unique.map((id) => {
      const [kind = ''] = /^(?:[a-z]+-)+(?=[a-z0-9]+$)/.exec(id) ?? [];
      let length = Math.min(id.length, kind === '' ? UUID : kind.length + HASH);
      const begun = (other: string) => other !== id && other.startsWith(id.slice(0, length));
      while (length < id.length && unique.some(begun)) length += 1;
      return [id, id.slice(0, length)];
    }),
  );
}

/**
 * The full ID that this one is or begins; unchanged where there is none, so that the service reports what is missing.
 * @throws CommandFailure where several begin so
 */
export function wholeId(what: string, begun: string, ids: readonly string[]): string {
  if (begun === '' || ids.includes(begun)) return begun;
  const all = ids.filter((id) => id.startsWith(begun));
  const [first = begun, ...others] = all;
  if (others.length === 0) return first;
  const named = all.slice(0, NAMED).join('\n  ');
  const more = all.length > NAMED ? '\n  …' : '';
  throw new CommandFailure(`The IDs of several ${what} begin with ${begun}:\n  ${named}${more}`);
}

/** A job's whole ID. @throws CommandFailure where several begin so */
export async function jobIdOf(client: AdminClient, begun: string): Promise<string> {
  const text = begun.toLowerCase();
  if (!/^[0-9a-f][0-9a-f-]{0,35}$/.test(text)) return begun;
  if (text.length === 36) return text;
  const jobs = await client.jobs({ id: text, limit: NAMED + 1 });
  return wholeId(
    'jobs',
    text,
    jobs.map(({ id }) => id),
  );
}
