import type { z } from 'zod';
import { because, reasonText } from '../contract/reason.ts';
import { reasonOfIssue } from '../server/issue-reason.ts';
import { valueAt } from '../server/problems.ts';

/** What a schema finds wrong in `content`, in the words that the service has for it: unknown members one by one. */
export function inWords(issue: z.core.$ZodIssue, content: unknown): z.core.$ZodIssue[] {
  if (issue.code !== 'unrecognized_keys') {
    return [{ ...issue, message: reasonText(reasonOfIssue(issue, valueAt(content, issue.path))) }];
  }
  return issue.keys.map((member) => ({
    ...issue,
    path: [...issue.path, member],
    message: reasonText(because('member-unknown', { member })),
  }));
}
