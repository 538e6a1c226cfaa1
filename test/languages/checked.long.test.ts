/** A check refuses exactly the records whose labels cannot be made; so a job whose records pass prints. */
import { describe, expect, test } from 'vitest';
import { LANGUAGES } from '../../drivers/languages/index.ts';
import { type JobFault, JobFaultError } from '../../src/contract/fault.ts';
import type { LabelRecord } from '../../src/contract/print-request.ts';
import { jobFor } from '../kit/judges/judges.ts';
import { readSample, SAMPLES } from './samples.ts';

/** For each field of a template in turn. */
const HOSTILE = [
  '',
  'A',
  '1',
  '\0',
  '€',
  '\u{1f4a9}',
  '不存在',
  '^XZ',
  '(01)',
  '0'.repeat(13),
  '9'.repeat(14),
  'x'.repeat(60),
  'x y '.repeat(500),
  '7'.repeat(3_000),
];

async function faultOf(run: () => unknown): Promise<JobFault | null> {
  try {
    await run();
    return null;
  } catch (error) {
    if (error instanceof JobFaultError) return error.fault;
    throw error;
  }
}

describe.each(['zpl', 'tspl', 'png'] as const)('%s', (language) => {
  test.each(SAMPLES)('%s', async (name) => {
    const { template, records } = await readSample(name);
    const [first] = records;
    const hostile = Object.keys(first ?? {}).flatMap((field): LabelRecord[] =>
      HOSTILE.map((value) => ({ ...first, [field]: value })),
    );
    const job = jobFor(template, [...records, {}, ...hostile], { dpi: 203 });
    const open = await LANGUAGES[language].encoder();
    const encoder = await open({ ...job, format: { ...job.format, language } });
    const { check } = encoder;
    if (check === undefined) throw new Error('nothing can be looked at');
    const faults: (JobFault | null)[] = [];
    for (const index of job.records.keys()) {
      const made = await faultOf(() => encoder.label(index, 1));
      expect(await faultOf(() => check(index)), JSON.stringify(job.records[index])).toEqual(made);
      faults.push(made);
    }
    expect(faults.slice(0, records.length)).toEqual(records.map(() => null));
    expect(faults.some((fault) => fault !== null)).toBe(true);
  });
});
