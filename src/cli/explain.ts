import { z } from 'zod';
import { withoutCredentials } from '../words/without-credentials.ts';

/** The text of any error, for people; credentials in connection strings are left out. */
export function explain(error: unknown): string {
  if (error instanceof z.ZodError) return z.prettifyError(error);
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(explain).join('; ');
  if (!(error instanceof Error)) return withoutCredentials(String(error));
  const cause = error.cause === undefined ? '' : ` (${explain(error.cause)})`;
  return withoutCredentials(error.message) + cause;
}
