/**
 * Dates and times in field values: ISO 8601 in, a pattern out.
 *
 * A value without an offset is civil: it prints as it was written, in whatever zone. One with an offset (or Z) is
 * an instant, and is shown in a zone that the template names. Nothing here asks for the host's clock, zone or
 * language, so that a label comes out the same wherever and whenever it is rendered.
 */
import { LRUCache } from 'lru-cache';

export interface CivilTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  /** null: the value is a date alone. */
  readonly time: { readonly hour: number; readonly minute: number; readonly second: number } | null;
}

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?(?:(Z)|([+-])(\d\d):?(\d\d))?)?$/;
const DAY = 86_400_000;

/** The formatters used last, since making one takes a hundred times as long as using it. */
const formatters = new LRUCache<string, Intl.DateTimeFormat>({ max: 64 });

function formatter(key: string, make: () => Intl.DateTimeFormat): Intl.DateTimeFormat {
  const format = formatters.get(key) ?? make();
  formatters.set(key, format);
  return format;
}

/** @throws RangeError for a zone that ICU does not know */
export function requireZone(zone: string): void {
  clockOf(zone);
}

function clockOf(zone: string): Intl.DateTimeFormat {
  return formatter(`clock ${zone}`, () => {
    return new Intl.DateTimeFormat('en-u-ca-iso8601-nu-latn', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
  });
}

function inZone(instant: number, zone: string): CivilTime {
  const parts = new Map(
    clockOf(zone)
      .formatToParts(instant)
      .map((part) => [part.type, part.value]),
  );
  const of = (type: Intl.DateTimeFormatPartTypes) => Number(parts.get(type));
  return {
    year: of('year'),
    month: of('month'),
    day: of('day'),
    time: { hour: of('hour'), minute: of('minute'), second: of('second') },
  };
}

/** What a value says, in `zone` where it is an instant; null where it is no date. */
export function civilTime(value: string, zone: string): CivilTime | null {
  const match = ISO.exec(value.trim());
  if (match === null) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map((part) => {
    return Number(part ?? 0);
  });
  const date = new Date(Date.UTC(year, month - 1, day));
  // Date.UTC takes 30 February for 2 March, and the year 26 for 1926.
  if (date.getUTCFullYear() !== year || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day)
    return null;
  if (hour > 23 || minute > 59 || second > 59) return null;
  if (match[4] === undefined) return { year, month, day, time: null };
  const [zulu, sign, hours, minutes] = match.slice(7, 11);
  if (zulu === undefined && sign === undefined) return { year, month, day, time: { hour, minute, second } };
  const offset = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * (sign === '-' ? -60_000 : 60_000);
  return inZone(date.getTime() + ((hour * 60 + minute) * 60 + second) * 1000 - offset, zone);
}

/** ISO 8601, without an offset. */
export function isoText({ year, month, day, time }: CivilTime): string {
  const date = `${digits(year, 4)}-${digits(month, 2)}-${digits(day, 2)}`;
  if (time === null) return date;
  return `${date}T${digits(time.hour, 2)}:${digits(time.minute, 2)}:${digits(time.second, 2)}`;
}

/** null: beyond the years 1 to 9999. */
export function addDays(civil: CivilTime, days: number): CivilTime | null {
  return withDate(civil, new Date(Date.UTC(civil.year, civil.month - 1, civil.day) + days * DAY));
}

/** A day that the month does not have becomes its last: 31 January and a month is 28 February. */
export function addMonths(civil: CivilTime, months: number): CivilTime | null {
  const last = new Date(Date.UTC(civil.year, civil.month + months, 0)).getUTCDate();
  return withDate(civil, new Date(Date.UTC(civil.year, civil.month - 1 + months, Math.min(civil.day, last))));
}

function withDate(civil: CivilTime, date: Date): CivilTime | null {
  const year = date.getUTCFullYear();
  if (!(year >= 1 && year <= 9999)) return null;
  return { year, month: date.getUTCMonth() + 1, day: date.getUTCDate(), time: civil.time };
}

function digits(value: number, length: number): string {
  return String(value).padStart(length, '0');
}

interface Week {
  readonly year: number;
  readonly week: number;
  /** 1 is Monday. */
  readonly day: number;
}

/** ISO 8601 week date: the week belongs to the year of its Thursday. */
function weekOf({ year, month, day }: CivilTime): Week {
  const at = Date.UTC(year, month - 1, day);
  const weekday = new Date(at).getUTCDay() || 7;
  const thursday = at + (4 - weekday) * DAY;
  const weekYear = new Date(thursday).getUTCFullYear();
  return {
    year: weekYear,
    week: Math.floor((thursday - Date.UTC(weekYear, 0, 1)) / DAY / 7) + 1,
    day: weekday,
  };
}

type Name = Pick<Intl.DateTimeFormatOptions, 'day' | 'month' | 'weekday'>;

function nameFormat(name: Name, locale: string): Intl.DateTimeFormat {
  return formatter(`${JSON.stringify(name)} ${locale}`, () => {
    // A calendar of the language's own (Buddhist, Persian) has other months.
    return new Intl.DateTimeFormat(locale, { ...name, calendar: 'gregory', timeZone: 'UTC' });
  });
}

/** A month's or a weekday's name as it stands in a date; by itself where a date has a number for it. */
function nameOf(
  { year, month, day }: CivilTime,
  part: 'month' | 'weekday',
  length: 'short' | 'long',
  locale: string,
): string {
  const date = Date.UTC(year, month - 1, day);
  const alone: Name = { [part]: length };
  const inDate: Name = part === 'month' ? { day: 'numeric', ...alone } : alone;
  const parts = nameFormat(inDate, locale).formatToParts(date);
  const found = parts.find((one) => one.type === part)?.value ?? '';
  return /^\p{Nd}+$/u.test(found) ? nameFormat(alone, locale).format(date) : found;
}

type Token = (civil: CivilTime, locale: string) => string;
type Time = NonNullable<CivilTime['time']>;

const DATE_TOKENS: Readonly<Record<string, Token>> = {
  yyyy: ({ year }) => digits(year, 4),
  yy: ({ year }) => digits(year % 100, 2),
  MMMM: (civil, locale) => nameOf(civil, 'month', 'long', locale),
  MMM: (civil, locale) => nameOf(civil, 'month', 'short', locale),
  MM: ({ month }) => digits(month, 2),
  M: ({ month }) => String(month),
  dd: ({ day }) => digits(day, 2),
  d: ({ day }) => String(day),
  DDD: ({ year, month, day }) => digits((Date.UTC(year, month - 1, day) - Date.UTC(year, 0, 1)) / DAY + 1, 3),
  EEEE: (civil, locale) => nameOf(civil, 'weekday', 'long', locale),
  EEE: (civil, locale) => nameOf(civil, 'weekday', 'short', locale),
  e: (civil) => String(weekOf(civil).day),
  ww: (civil) => digits(weekOf(civil).week, 2),
  GGGG: (civil) => digits(weekOf(civil).year, 4),
  GG: (civil) => digits(weekOf(civil).year % 100, 2),
};
const TIME_TOKENS: Readonly<Record<string, (time: Time) => string>> = {
  HH: ({ hour }) => digits(hour, 2),
  H: ({ hour }) => String(hour),
  hh: ({ hour }) => digits(hour % 12 || 12, 2),
  h: ({ hour }) => String(hour % 12 || 12),
  a: ({ hour }) => (hour < 12 ? 'AM' : 'PM'),
  mm: ({ minute }) => digits(minute, 2),
  ss: ({ second }) => digits(second, 2),
};

interface DatePattern {
  /** It shows a time, so a value that is only a date cannot be printed with it. */
  readonly needsTime: boolean;
  format(civil: CivilTime, locale: string): string;
}

/**
 * Compiles a pattern: the tokens above; other characters stand for themselves, letters only inside [ ].
 * @returns the compiled pattern, or the first letters that are no token
 */
export function datePattern(pattern: string): DatePattern | string {
  const steps: Token[] = [];
  let needsTime = false;
  for (const [piece, literal, letter] of pattern.matchAll(/\[([^\]]*)\]|([A-Za-z])\2*|[^A-Za-z[]+|\[/g)) {
    const onDate = DATE_TOKENS[piece];
    const onTime = TIME_TOKENS[piece];
    if (literal !== undefined) steps.push(() => literal);
    else if (letter === undefined) steps.push(() => piece);
    else if (onDate !== undefined) steps.push(onDate);
    else if (onTime !== undefined) {
      needsTime = true;
      steps.push(({ time }) => (time === null ? '' : onTime(time)));
    } else return piece;
  }
  return { needsTime, format: (civil, locale) => steps.map((step) => step(civil, locale)).join('') };
}
