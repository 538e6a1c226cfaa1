/** How requests that the interface document refuses are tried: a case for each row and rule of it. */
import { describe, expect, test } from 'vitest';
import { PROBLEM_EXAMPLES } from '../../../src/server/problem-examples.ts';
import { type Answer, type CallOptions, codeOf, pointersOf } from './harness.ts';
import type { InterfaceSite } from './interface-site.ts';

export type Refusal = {
  rule: string;
  /** Made when it runs: IDs are known only then. */
  request: () => CallOptions;
  status: number;
  code?: string;
  /** JSON pointers that the answer must name. */
  at?: string[];
  /** What the answer says, as JSON, and what it must not. */
  says?: string | (() => string);
  not?: string;
};

function expectProblem(answer: Answer, expected: Refusal): void {
  expect({ status: answer.status, code: codeOf(answer) }).toEqual({
    status: expected.status,
    code: expected.code,
  });
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  if (expected.at !== undefined) expect(pointersOf(answer)).toEqual(expected.at);
  const { says = '' } = expected;
  expect(answer.text).toContain(typeof says === 'string' ? says : says());
  if (expected.not !== undefined) expect(answer.text).not.toContain(expected.not);
  // No words of the schema library's own.
  expect(answer.text).not.toMatch(/Invalid input|received/);
  // What `/openapi.json` shows of the code has the members of a real answer.
  const example = Object.entries(PROBLEM_EXAMPLES).find(([code]) => code === expected.code)?.[1];
  expect(Object.keys(Object(answer.body))).toEqual(Object.keys(example?.body('') ?? {}));
  if (expected.status === 401) expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer /);
}

/** @param ofJobs what only the request that enqueues can be refused for */
export function testRefusals(
  site: InterfaceSite,
  cases: readonly Refusal[],
  ofJobs: readonly Refusal[] = [],
): void {
  describe('what POST /v2/jobs refuses', () => {
    test.each([...cases, ...ofJobs])('$rule → $status $code', async (each) => {
      const before = await site.jobCount();
      expectProblem(await site.enqueue(each.request()), each);
      expect(await site.jobCount()).toBe(before);
    });
  });

  describe('what POST /v2/jobs/validate refuses, the same', () => {
    test.each([...cases])('$rule → $status $code', async (each) => {
      expectProblem(await site.validate(each.request()), each);
    });
  });
}
