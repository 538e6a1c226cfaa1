/** Where data does not match its schema, for logs and for people who must not see the data. */
import type { z } from 'zod';

const MOST_NAMED = 20;

/** `path: code` each; not the messages, of which some quote what was received. */
export function issuePaths(error: z.ZodError): string[] {
  return error.issues.slice(0, MOST_NAMED).map(({ path, code }) => `${path.join('/')}: ${code}`);
}
