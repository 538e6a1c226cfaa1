/** CUPS' own suites against the virtual IPP printer. */
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { decode } from '../kit/printers/bench-printer.ts';
import { ippBench } from '../kit/printers/ipp-bench.ts';
import { ipptool, suites } from '../kit/programs/ipptool.ts';

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
