/** Each code in the service's tables has German words, too. */
import { expect, test } from 'vitest';
import { DEEDS } from '../../src/contract/deeds.ts';
import { JOB_FAULTS } from '../../src/contract/fault.ts';
import { TEMPLATE_PROBLEMS } from '../../src/contract/template-problem.ts';
import { PROBLEM_CODES } from '../../src/server/problems.ts';
import { REASONS } from '../../src/words/reason-table.ts';
import { jobFaults, refusals, templateProblems } from '../../web/texts/de/problems.ts';
import { reasons as german } from '../../web/texts/de/reasons.ts';
import { de } from '../../web/texts/de.ts';
import { en } from '../../web/texts/en.ts';

const reasons: Readonly<Record<string, string>> = german;

test.each([
  ['refusals', refusals, PROBLEM_CODES],
  ['problems of templates', templateProblems, TEMPLATE_PROBLEMS],
  ['faults of jobs', jobFaults, Object.keys(JOB_FAULTS)],
])('%s: every code, and no other', (_, words, codes) => {
  expect(Object.keys(words).sort()).toEqual([...codes].sort());
  for (const text of Object.values(words)) expect(text).toMatch(/^\p{Lu}.{8,}[^.]$/u);
});

test('reasons: each is filled in with what the English one is, or less', () => {
  const slots = (text: string) => text.match(/\{\w+\}/g) ?? [];
  for (const [code, text] of Object.entries(REASONS)) {
    const german = reasons[code];
    expect([code, slots(text)]).toEqual([code, expect.arrayContaining(slots(german ?? ''))]);
    expect(german).toMatch(/^(?:\p{Lu}|\{).{8,}[^.]$/u);
  }
  expect(Object.keys(reasons).sort()).toEqual(Object.keys(REASONS).sort());
});

test.each([
  ['English', en],
  ['German', de],
])('%s: every deed of the audit, and no other', (_, { audit }) => {
  expect(Object.keys(audit.deeds).sort()).toEqual([...DEEDS].sort());
  const words = Object.values(audit.deeds);
  expect(new Set(words).size).toBe(words.length);
  for (const text of words) expect(text).toMatch(/^\p{Lu}.{4,}[^.]$/u);
});
