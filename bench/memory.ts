/**
 * What processes hold in memory, MB, from Linux' /proc; null on systems without it. A process of its own is
 * measured by its resident set, as `ps` shows it; PostgreSQL's many processes share most of theirs, so each is
 * counted by its proportional share (PSS).
 */
import { readdirSync, readFileSync } from 'node:fs';
import { round } from './figures.ts';

/** Resident now, and at its highest since the process began. */
export function resident(pid: number): { now: number; peak: number } | null {
  const status = read(`/proc/${pid}/status`);
  const [now, peak] = [kilobytes(status, 'VmRSS'), kilobytes(status, 'VmHWM')];
  return now === null || peak === null ? null : { now, peak };
}

/** All PostgreSQL processes below this one. */
export function postgresBelow(pid: number): number | null {
  const parts = postgresProcesses(pid).map((one) => kilobytes(read(`/proc/${one}/smaps_rollup`), 'Pss'));
  const known = parts.filter((part) => part !== null);
  return known.length === 0 ? null : round(known.reduce((sum, part) => sum + part, 0));
}

function postgresProcesses(ancestor: number): number[] {
  const children = Map.groupBy(processes(), ({ parent }) => parent);
  const below = (pid: number): { pid: number; name: string }[] =>
    (children.get(pid) ?? []).flatMap((child) => [child, ...below(child.pid)]);
  return below(ancestor)
    .filter(({ name }) => name.startsWith('postgres'))
    .map(({ pid }) => pid);
}

function processes(): { pid: number; parent: number; name: string }[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      // pid (name) state ppid …; the name may hold anything, spaces and parentheses too.
      const match = /^\d+ \((.*)\) \S (\d+) /s.exec(read(`/proc/${name}/stat`));
      return match === null ? [] : [{ pid: Number(name), parent: Number(match[2]), name: match[1] ?? '' }];
    });
}

function kilobytes(text: string, name: string): number | null {
  const match = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text);
  return match === null ? null : round(Number(match[1]) / 1024);
}

/** Empty for a process that has ended, or a system without /proc. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
