/** What the service can say is said in German too, each code of its tables. */
import { expect, test } from 'vitest';
import { JOB_FAULTS } from '../../src/contract/fault.ts';
import { TEMPLATE_PROBLEMS } from '../../src/contract/template-problem.ts';
import { PROBLEM_CODES } from '../../src/server/problems.ts';
import { jobFaults, refusals, templateProblems } from '../../web/texts/de/problems.ts';

test.each([
  ['refusals', refusals, PROBLEM_CODES],
  ['problems of templates', templateProblems, TEMPLATE_PROBLEMS],
  ['faults of jobs', jobFaults, Object.keys(JOB_FAULTS)],
])('%s: every code, and no other', (_, words, codes) => {
  expect(Object.keys(words).sort()).toEqual([...codes].sort());
  for (const text of Object.values(words)) expect(text).toMatch(/^\p{Lu}.{8,}[^.]$/u);
});
