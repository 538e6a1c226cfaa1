/** The filters of the jobs page as a query for the service. */
import { VALUE_MARK } from '../../src/contract/job-search.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const SPANS: Readonly<Record<string, number>> = { '1h': HOUR_MS, '24h': 24 * HOUR_MS, '7d': 168 * HOUR_MS };
/** Value of `since` for what was accepted since the day began, in the viewer's zone. */
export const TODAY = 'today';
/** Value of `since` for a span between two chosen times, `from` and `until`. */
export const BETWEEN = 'between';
/** What the service accepts as the beginning of an ID. */
export const ID = /^[0-9a-f-]{0,36}$/;

/** The time in the viewer's zone, as a `datetime-local` input takes it; empty where `iso` is no time. */
export function localTime(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return '';
  return new Date(at.getTime() - at.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16);
}

/**
 * The filters in the address as a query; today, the last hour, day or week stays a word in it, so that the query changes only when
 * somebody changes the filters.
 */
export function asked(query: URLSearchParams, withStatus: boolean): string {
  const search = new URLSearchParams();
  for (const name of ['printer', 'template', 'account']) {
    const value = query.get(name);
    if (value) search.set(name, value);
  }
  const status = query.get('status') ?? '';
  // What is to be decided about is more than what is held: labels of a canceled job may be out, too.
  if (withStatus && status === 'held') search.set('undecided', 'true');
  else if (withStatus && status !== '') search.set('status', status);
  const test = query.get('test') ?? '';
  if (test === 'true' || test === 'false') search.set('test', test);
  const id = query.get('id') ?? '';
  if (id !== '' && ID.test(id)) search.set('id', id);
  const value = query.get('value') ?? '';
  if (VALUE_MARK.test(value)) search.set('value', value);
  const since = query.get('since') ?? '';
  if (since === BETWEEN) {
    for (const [name, bound] of [
      ['since', query.get('from')],
      ['until', query.get('until')],
    ] as const) {
      if (bound && localTime(bound) !== '') search.set(name, bound);
    }
  }
  if (since === TODAY || Object.hasOwn(SPANS, since)) search.set('since', since);
  return search.toString();
}

/** A path with a query of `asked`, with the time in it at which its span begins now. */
export function timed(path: string): string {
  return path.replace(/([?&]since=)(today|1h|24h|7d)(?=&|$)/, (_, name: string, since: string) => {
    const begin = since === TODAY ? new Date().setHours(0, 0, 0, 0) : Date.now() - (SPANS[since] ?? 0);
    return `${name}${encodeURIComponent(new Date(begin).toISOString())}`;
  });
}
