/** Times for people: shown and read in this machine's time zone. Programs get UTC, unchanged. */
import { InvalidArgumentError } from 'commander';

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** `2026-11-22 14:05:09` */
export function localTime(iso: string): string {
  return new Date(iso).toLocaleString('sv-SE');
}

/**
 * Reads an option's time: how long ago (`90s`, `30m`, `2h`, `3d`), a day or a time of this machine's zone
 * (`2026-11-22`, `2026-11-22 14:05`), or ISO 8601 with a zone. Returns ISO 8601 in UTC.
 */
export function timeFrom(text: string): string {
  const [, count, unit = ''] = /^(\d{1,5})([smhd])$/.exec(text) ?? [];
  const date =
    count === undefined
      ? /^\d{4}-\d{2}-\d{2}/.test(text)
        ? new Date(text.length === 10 ? `${text}T00:00` : text.replace(' ', 'T'))
        : new Date(Number.NaN)
      : new Date(Date.now() - Number(count) * (SECONDS[unit] ?? 0) * 1_000);
  if (Number.isNaN(date.getTime())) {
    throw new InvalidArgumentError('expected how long ago, like 2h or 3d, or a time like "2026-11-22 14:05"');
  }
  return date.toISOString();
}
