/** What a queue holds, read: by whichever version it was written. */
import type { z } from 'zod';
import type { Lane } from '../contract/lane.ts';
import type { Parsed } from './consumer.ts';

export function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

export interface Unreadable {
  /** As `queueIdOf` makes it, if it is one of ours. */
  queueId: string;
  lane: Lane;
  /** `path: what is wrong`, without values. */
  issues: string[];
  /** As of a delivery. */
  note: unknown;
}

/** Never throws; what is wrong is said without values. */
export function parse<T>(schema: z.ZodType<T>, json: string): Parsed<T> {
  const data = parseJson(json);
  if (data === undefined) return { issues: [': not JSON'] };
  const parsed = schema.safeParse(data);
  if (parsed.success) return { value: parsed.data };
  // The code and not the message: some messages quote what was received.
  return {
    issues: parsed.error.issues.slice(0, 20).map((issue) => `${issue.path.join('/')}: ${issue.code}`),
  };
}
