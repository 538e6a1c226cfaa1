/** What runs on this machine, from Linux' /proc; nothing on systems without it. */
import { readdirSync, readFileSync } from 'node:fs';

export interface RunningProcess {
  pid: number;
  parent: number;
  name: string;
  /** CPU time that it has taken, with its threads and the children that it has waited for, ms. */
  cpu: number;
}

/** ms in a tick of `/proc/<pid>/stat` (sysconf(_SC_CLK_TCK)): the same on every Linux that Node runs on. */
const TICK = 10;

/** All descendants of a process. */
export function below(ancestor: number): RunningProcess[] {
  const children = Map.groupBy(processes(), ({ parent }) => parent);
  const of = (pid: number): RunningProcess[] =>
    (children.get(pid) ?? []).flatMap((child) => [child, ...of(child.pid)]);
  return of(ancestor);
}

/** CPU time of a process with its threads and the children that it has waited for, ms; 0 where unknown. */
export function cpuOf(pid: number): number {
  return statOf(pid)?.cpu ?? 0;
}

/** What a process has asked of the kernel, with all its threads; 0 where unknown. */
export interface Calls {
  /** Calls that write to a file or socket, whatever their size. */
  writes: number;
  reads: number;
  /** How often a thread has gone on after it had nothing to do. */
  wakeUps: number;
}

export function callsOf(pid: number): Calls {
  const io = read(`/proc/${pid}/io`);
  const threads = namesIn(`/proc/${pid}/task`);
  const waits = threads.map((thread) =>
    counted(read(`/proc/${pid}/task/${thread}/status`), 'voluntary_ctxt_switches'),
  );
  return {
    writes: counted(io, 'syscw'),
    reads: counted(io, 'syscr'),
    wakeUps: waits.reduce((sum, count) => sum + count, 0),
  };
}

function counted(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s*(\\d+)$`, 'm').exec(text)?.[1] ?? 0);
}

function processes(): RunningProcess[] {
  return namesIn('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => statOf(Number(name)) ?? []);
}

function statOf(pid: number): RunningProcess | undefined {
  // pid (name) state ppid …; the name may hold anything, spaces and parentheses too.
  const match = /^\d+ \((.*)\) (.*)$/s.exec(read(`/proc/${pid}/stat`));
  if (match === null) return undefined;
  const [name = '', rest = ''] = match.slice(1);
  const fields = rest.split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { pid, parent: Number(fields[1]), name, cpu: ticks * TICK };
}

/** Empty for a process that has ended, or a system without /proc. */
export function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
