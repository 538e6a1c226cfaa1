/** Why a job waits, in words: by its own reasons, or by its printer and the jobs before it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isStuck, whyWords } from '../../web/jobs/wait-words.ts';
import { chosenLanguage } from '../../web/texts/texts.ts';

const STILL = 'out of labels';

beforeAll(() => chosenLanguage.keep('en'));
afterAll(() => chosenLanguage.keep(''));

describe('a job that waits in its lane', () => {
  const job = { status: 'queued' as const, reasons: [] };
  test.each([
    [{ still: STILL, before: 0 }, STILL],
    [{ still: STILL, before: 2 }, STILL],
    [{ still: undefined, before: 1 }, '1 job is before it'],
    [{ still: undefined, before: 1_000 }, '1000 jobs or more are before it'],
    [{ still: undefined, before: 0 }, 'not its turn yet'],
    [{ still: undefined }, 'not its turn yet'],
  ])('%o: %s', ({ still, ...known }, says) => {
    expect(whyWords({ ...job, ...known }, still)).toBe(says);
    expect(isStuck(job, still)).toBe(still !== undefined);
  });
});

test('a reason of its own is said alone', () => {
  const job = { status: 'queued' as const, reasons: ['printer-held' as const], before: 3 };
  expect(whyWords(job, undefined)).toBe('the printer is on hold');
  expect(isStuck(job, undefined)).toBe(true);
});

test('a job that prints or has ended has nothing to wait for', () => {
  for (const status of ['printing', 'printed', 'held'] as const)
    expect(whyWords({ status, reasons: [] }, undefined)).toBe('');
});
