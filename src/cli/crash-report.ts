/**
 * Writes a report when a process ends by an error that nothing has caught: the places in the program, without
 * the message, which may quote label data. The newest `KEPT` reports are kept, in the data directory.
 */
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import metadata from '../../package.json' with { type: 'json' };

export const CRASHES = 'crashes';
const KEPT = 10;
const FRAMES = 50;

/** Writes crash reports from now on, until the process ends. */
export function keepCrashReports(dataDir: string): void {
  // A monitor only observes: Node still does what it does at an uncaught error.
  process.on('uncaughtExceptionMonitor', (error, origin) => {
    try {
      writeCrashReport(dataDir, error, origin);
    } catch {
      // The disk may be what is wrong.
    }
  });
}

/** @returns the file */
export function writeCrashReport(dataDir: string, error: unknown, origin: string): string {
  const directory = join(dataDir, CRASHES);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const at = new Date().toISOString();
  const file = join(directory, `${at.replaceAll(':', '-')}.json`);
  const report = {
    at,
    platen: metadata.version,
    node: process.versions.node,
    origin,
    errors: chainOf(error),
  };
  // The disk may be full: no report is better than half of one.
  writeFileSync(`${file}.new`, JSON.stringify(report, null, 2), { mode: 0o600 });
  renameSync(`${file}.new`, file);
  for (const old of readdirSync(directory).sort().slice(0, -KEPT)) rmSync(join(directory, old));
  return file;
}

/** The error and its causes. */
function chainOf(error: unknown): object[] {
  const chain: object[] = [];
  for (let one = error; one instanceof Error && chain.length < 5; one = one.cause) {
    const frames = (one.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
    const code = 'code' in one && typeof one.code === 'string' ? one.code : undefined;
    chain.push({ type: one.name, code, frames: frames.slice(0, FRAMES).map((line) => line.trim()) });
  }
  return chain;
}
