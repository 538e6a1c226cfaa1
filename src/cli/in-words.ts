import type { z } from 'zod';
import { reasonText } from '../contract/reason.ts';
import { reasonOfIssue } from '../server/issue-reason.ts';
import { valueAt } from '../server/problems.ts';

/** What a schema finds wrong in `content`, in the words that the service has for it. */
export function inWords(issue: z.core.$ZodIssue, content: unknown): z.core.$ZodIssue {
  return { ...issue, message: reasonText(reasonOfIssue(issue, valueAt(content, issue.path))) };
}
