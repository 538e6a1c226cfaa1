/** The words of the console in the language of who looks, and how times are written there. */
import { computed } from '@preact/signals';
import { kept } from '../address/kept.ts';
import { de } from './de.ts';
import { en, type Texts } from './en.ts';

/** `en`, `de`, or nothing: as the browser has it. */
export const chosenLanguage = kept('language');

export const t = computed<Texts>(() => {
  const language = chosenLanguage.value || navigator.language;
  return language.toLowerCase().startsWith('de') ? de : en;
});

/** As the viewer's country writes, where the browser says so: the 24 hours of Britain, the 12 of America. */
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

/** Of today the time alone; else the day with it. In the viewer's zone. */
export function when(time: Time): string {
  const date = new Date(time);
  return `${dayBefore(date)}${clock.value.format(date)}`;
}

/** As `when`, to the second. */
export function whenExactly(time: Time): string {
  const date = new Date(time);
  return `${dayBefore(date)}${seconds.value.format(date)}`;
}

/** The day, to stand before a time: nothing today, without the year this year. */
function dayBefore(date: Date): string {
  const now = new Date();
  if (date.toDateString() === now.toDateString()) return '';
  const year = date.getFullYear() === now.getFullYear() ? '' : ` ${date.getFullYear()}`;
  return `${day.value.format(date)}${year}, `;
}

const utcDay = format({ day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });

/** A day in UTC, as the service counts them: `2026-11-22`. */
export function dayOf(day: string): string {
  return utcDay.value.format(new Date(day));
}

/** With the day and the zone, for who points at a time. */
export function inFull(time: Time): string {
  return full.value.format(new Date(time));
}

/**
 * What the service says of a code, in the language of who looks, with what it says of this case behind it: numbers, names
 * and places stand there alone.
 * @param table of a language; where it has not the code, the service's own words
 */
export function saidOf(table: Readonly<Record<string, string>>, code: string, message: string): string {
  const words = Object.hasOwn(table, code) ? table[code] : undefined;
  return words === undefined ? message : `${words} (${message})`;
}

/** A number as a field shows it that also takes it: with the comma of the language, and no thousands' points. */
export function numeral(value: number): string {
  return value.toLocaleString(t.value.locale, { useGrouping: false, maximumFractionDigits: 6 });
}

/** Words as one talks: `a, b and c`. */
export function listed(words: readonly string[]): string {
  return new Intl.ListFormat(t.value.locale, { type: 'conjunction' }).format(words);
}

/** As agents call a format that nobody has given a name: its size, with the point of programs. */
const BY_SIZE = /^(\d+(?:\.\d+)?) × (\d+(?:\.\d+)?) mm, (\d+) dpi$/;

/** A format's name, numbers as they are written where the viewer lives. */
export function formatWords(name: string): string {
  const [, width, height, dpi] = BY_SIZE.exec(name) ?? [];
  return dpi === undefined ? name : `${t.value.general.mm(Number(width), Number(height))}, ${dpi} dpi`;
}

/** Sizes of media that are named; a printer of pages may have many. */
const MOST_SIZES = 2;

/** The sizes of the media in a printer with these formats. */
export function mediaWords(formats: readonly { width: number; height: number }[]): string {
  const sizes = [...new Set(formats.map(({ width, height }) => t.value.general.mm(width, height)))];
  return sizes.slice(0, MOST_SIZES).join(', ') + (sizes.length > MOST_SIZES ? ', …' : '');
}
