/** Where data does not match its schema, for logs and for people who must not see the data. */
import type { z } from 'zod';

const MOST_NAMED = 20;

/** `path: code` for each issue. The messages are left out, because some quote the data. */
export function issuePaths(error: z.ZodError): string[] {
  return error.issues.slice(0, MOST_NAMED).map(({ path, code }) => `${path.join('/')}: ${code}`);
}
