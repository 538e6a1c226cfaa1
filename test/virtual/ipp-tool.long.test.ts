/** CUPS' own suites against the virtual IPP printer. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { decode, temporaryDirectory } from '../kit/printers/bench-printer.ts';
import { ippBench, pdfOf } from '../kit/printers/ipp-bench.ts';

const SUITES = '/usr/share/cups/ipptool';

/** What a suite names. One that is missing ends the suite there, without a word in its results. */
async function suites(): Promise<string> {
  const directory = await temporaryDirectory();
  for (const suite of ['ipp-1.1.test', 'ipp-2.0.test']) {
    await copyFile(join(SUITES, suite), join(directory, suite));
  }
  await writeFile(join(directory, 'label.pdf'), pdfOf(['ipptool']));
  await writeFile(join(directory, 'document-a4.pdf'), pdfOf(['a4'], { width: 210, height: 297 }));
  await writeFile(join(directory, 'document-letter.pdf'), pdfOf(['letter'], { width: 215.9, height: 279.4 }));
  // Formats that the printer does not take: only looked for, never sent.
  for (const name of ['document-a4.ps', 'document-letter.ps', 'color.jpg', 'gray.jpg']) {
    await writeFile(join(directory, name), '');
  }
  return directory;
}

/** ipptool's exit code says little: its lines do. */
async function ipptool(directory: string, version: string, uri: string, suite: string): Promise<string[]> {
  const args = ['-V', version, '-tI', '-f', join(directory, 'label.pdf'), uri, join(directory, suite)];
  const run = promisify(execFile)('ipptool', args, { timeout: 110_000, maxBuffer: 64 * 1024 * 1024 });
  const { stdout, stderr } = await run.catch((error: unknown) => {
    if (error instanceof Error && 'stdout' in error && 'stderr' in error) {
      return { stdout: String(error.stdout), stderr: String(error.stderr) };
    }
    throw error;
  });
  expect(stderr).toBe('');
  return stdout.split('\n');
}

const count = (lines: string[], result: string) =>
  lines.filter((line) => line.endsWith(`[${result}]`)).length;

describe('ipptool', () => {
  it.each([
    ['1.1', 'ipp-1.1.test', 34],
    ['2.0', 'ipp-2.0.test', 35],
  ])('passes %s of %s with no failure', { timeout: 120_000 }, async (version, suite, atLeast) => {
    const rolls = [
      { width: 210, height: 297 },
      { width: 215.9, height: 279.4 },
    ];
    const { printer, labels } = await ippBench({ rolls });
    const lines = await ipptool(await suites(), version, printer.uri, suite);
    const failed = lines.findIndex((line) => line.endsWith('[FAIL]'));
    expect(failed < 0 ? [] : lines.slice(failed, failed + 12)).toEqual([]);
    expect(count(lines, 'PASS')).toBeGreaterThanOrEqual(atLeast);
    while (printer.state().jobs > 0) await once(printer, 'job');
    const jobs = printer.jobs();
    expect(jobs.filter((job) => job.state !== 'completed' && job.state !== 'canceled')).toEqual([]);
    expect(labels).toHaveLength(jobs.reduce((sum, job) => sum + job.printed, 0));
    expect(await decode(labels[0]?.file ?? '')).toEqual(['ipptool']);
    expect(jobs.filter((job) => job.state === 'completed').length).toBeGreaterThan(5);
  });
});
