/**
 * What processes hold in memory, MB, from Linux' /proc; null on systems without it. A process of its own is
 * measured by its resident set, as `ps` shows it; PostgreSQL's many processes share most of theirs, so each is
 * counted by its proportional share (PSS).
 */
import { round } from './figures.ts';
import { below, read } from './processes.ts';

/** Resident now, and at its highest since the process began. */
export function resident(pid: number): { now: number; peak: number } | null {
  const status = read(`/proc/${pid}/status`);
  const [now, peak] = [kilobytes(status, 'VmRSS'), kilobytes(status, 'VmHWM')];
  return now === null || peak === null ? null : { now, peak };
}

/** All PostgreSQL processes below this one. */
export function postgresBelow(pid: number): number | null {
  const parts = below(pid)
    .filter(({ name }) => name.startsWith('postgres'))
    .map((one) => kilobytes(read(`/proc/${one.pid}/smaps_rollup`), 'Pss'));
  const known = parts.filter((part) => part !== null);
  return known.length === 0 ? null : round(known.reduce((sum, part) => sum + part, 0));
}

function kilobytes(text: string, name: string): number | null {
  const match = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text);
  return match === null ? null : round(Number(match[1]) / 1024);
}
