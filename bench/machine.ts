/** Describes the machine that a benchmark ran on, without which its figures mean nothing. */
import { execFileSync } from 'node:child_process';
import { cpus, loadavg } from 'node:os';

export interface Machine {
  cores: number;
  cpu: string;
  node: string;
  /** null in a copy without history. */
  commit: string | null;
  /** Processes that wanted a core before the benchmark began, on average over the last minute. */
  load: number;
}

export function machine(): Machine {
  const [first] = cpus();
  return {
    cores: cpus().length,
    cpu: first?.model.trim() ?? 'unknown',
    node: process.version,
    commit: commit(),
    load: Math.round((loadavg()[0] ?? 0) * 100) / 100,
  };
}

/** The lines that stand above the figures. */
export function heading(on: Machine): string {
  const line = `${on.cores} × ${on.cpu}, Node ${on.node}, commit ${on.commit ?? 'unknown'}, load before ${on.load}`;
  return on.load > 0.5
    ? `${line}\nThe machine was busy with something else: go by the ratios, and not far.`
    : line;
}

function commit(): string | null {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
      cwd: import.meta.dirname,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return null;
  }
}
