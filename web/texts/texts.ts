/** The words of the console in the language of whoever looks, and how numbers and times are written in it. */
import { computed } from '@preact/signals';
import { kept } from '../address/kept.ts';
import { de } from './de.ts';
import { en, type Texts } from './en.ts';

/** `en` or `de`; empty: the browser's language. */
export const chosenLanguage = kept('language');

export const t = computed<Texts>(() => {
  const language = chosenLanguage.value || navigator.language;
  return language.toLowerCase().startsWith('de') ? de : en;
});

/** The locale with the viewer's country, if the browser says it: Britain writes times with 24 hours, America with 12. */
const locale = computed(() =>
  navigator.language.toLowerCase().startsWith(t.value.locale) ? navigator.language : t.value.locale,
);
const format = (options: Intl.DateTimeFormatOptions) =>
  computed(() => new Intl.DateTimeFormat(locale.value, options));
const clock = format({ hour: '2-digit', minute: '2-digit' });
const seconds = format({ hour: '2-digit', minute: '2-digit', second: '2-digit' });
const day = format({ day: 'numeric', month: 'short' });
const full = format({ dateStyle: 'full', timeStyle: 'long' });

type Time = string | number | Date;

/** A time in the viewer's zone: without the day if it is today, else with the day. */
export function when(time: Time): string {
  const date = new Date(time);
  return `${dayBefore(date)}${clock.value.format(date)}`;
}

/** As `when`, to the second. */
export function whenExactly(time: Time): string {
  const date = new Date(time);
  return `${dayBefore(date)}${seconds.value.format(date)}`;
}

/** The day, to stand before a time. Empty for today, and without the year for this year. */
function dayBefore(date: Date): string {
  const now = new Date();
  if (date.toDateString() === now.toDateString()) return '';
  const year = date.getFullYear() === now.getFullYear() ? '' : ` ${date.getFullYear()}`;
  return `${day.value.format(date)}${year}, `;
}

const utcDay = format({ day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });

/** Says a day such as `2026-11-22`. It is a day in UTC, because the service counts by these. */
export function dayOf(day: string): string {
  return utcDay.value.format(new Date(day));
}

/** A time with its day and its zone, for whoever points at it. */
export function inFull(time: Time): string {
  return full.value.format(new Date(time));
}

/**
 * Words for a code of the service, in the language of whoever looks. The service's own message follows in brackets, because only
 * that has the numbers, names and places of this case.
 * @param table the words of a language; for a code that it does not have, the message stands alone
 */
export function saidOf(table: Readonly<Record<string, string>>, code: string, message: string): string {
  return Object.hasOwn(table, code) ? `${table[code]} (${message})` : message;
}

/** Words for a code. A newer service may send one that the table does not have; then the code itself is shown. */
export function codeWords(table: Readonly<Record<string, string>>, code: string): string {
  return Object.hasOwn(table, code) ? (table[code] ?? code) : code;
}

/** A number as a field shows and takes it: with the decimal comma of the language, and nothing between the thousands. */
export function numeral(value: number): string {
  return value.toLocaleString(t.value.locale, { useGrouping: false, maximumFractionDigits: 6 });
}

/** Lists words as people say them: `a, b and c`. */
export function listed(words: readonly string[]): string {
  return new Intl.ListFormat(t.value.locale, { type: 'conjunction' }).format(words);
}

/** The name that agents give a format that nobody has named: its size, with a decimal point. */
const BY_SIZE = /^(\d+(?:\.\d+)?) × (\d+(?:\.\d+)?) mm, (\d+) dpi$/;

/** The name of a format, in which numbers are written as in the viewer's language. */
export function formatWords(name: string): string {
  const [, width, height, dpi] = BY_SIZE.exec(name) ?? [];
  return dpi === undefined ? name : `${t.value.general.mm(Number(width), Number(height))}, ${dpi} dpi`;
}

/** At most so many sizes of media are named; a printer of pages may have many. */
const MOST_SIZES = 2;

/** The sizes of the media in a printer that has these formats. */
export function mediaWords(formats: readonly { width: number; height: number }[]): string {
  const sizes = [...new Set(formats.map(({ width, height }) => t.value.general.mm(width, height)))];
  return sizes.slice(0, MOST_SIZES).join(', ') + (sizes.length > MOST_SIZES ? ', …' : '');
}
