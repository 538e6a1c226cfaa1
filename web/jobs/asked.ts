/** The filters of the jobs page as a query for the service. */
import { VALUE_MARK } from '../../src/contract/job-search.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const SPANS: Readonly<Record<string, number>> = { '1h': HOUR_MS, '24h': 24 * HOUR_MS, '7d': 168 * HOUR_MS };
/** The value of `since` for jobs accepted since the day began, in the viewer's time zone. */
export const TODAY = 'today';
/** The value of `since` for jobs accepted between two chosen times, `from` and `until`. */
export const BETWEEN = 'between';
/** What the service accepts as the beginning of an ID. */
export const ID = /^[0-9a-f-]{0,36}$/;

/** The time in the viewer's zone, in the form that a `datetime-local` input takes; empty if `iso` is no time. */
export function localTime(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return '';
  return new Date(at.getTime() - at.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16);
}

/**
 * The filters in the address, as a query. Today, the last hour, day or week stays a word in the query, so that it changes only
 * when somebody changes the filters.
 */
export function asked(query: URLSearchParams, withStatus: boolean): string {
  const search = new URLSearchParams();
  for (const name of ['printer', 'template', 'account']) {
    const value = query.get(name);
    if (value) search.set(name, value);
  }
  const status = query.get('status') ?? '';
  // More than held jobs wait for a decision: labels of a canceled job may be out, too.
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

/** Replaces the word for a span of time in a query of `asked` by the time at which that span begins now. */
export function timed(path: string): string {
  return path.replace(/([?&]since=)(today|1h|24h|7d)(?=&|$)/, (_, name: string, since: string) => {
    const begin = since === TODAY ? new Date().setHours(0, 0, 0, 0) : Date.now() - (SPANS[since] ?? 0);
    return `${name}${encodeURIComponent(new Date(begin).toISOString())}`;
  });
}
