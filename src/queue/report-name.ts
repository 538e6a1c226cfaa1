/** The names of the streams of reports: they hold the agent and its scope, in PostgreSQL as on Redis. */
import { z } from 'zod';
import { type Scope, scope } from '../contract/lane.ts';
import { agentId } from '../contract/report.ts';

/** The agent whose reports are in a stream. */
export interface ScopedAgent {
  scope: Scope;
  agentId: string;
}

/** A report that the server has: its place among those of its agent tells which of them the server has lost. */
export interface PublishedReport {
  /** The name of the stream that `at` and `before` belong to. */
  stream: string;
  /** Sorts, as text, after the place of every earlier report. */
  at: string;
  /** The newest place that the server knew before: reports after that place are lost. */
  before: string;
}

const origin = z.object({ scope, agentId });
/** Longest name of a stream, scope and agent together: anybody on Redis can ring the bell with megabytes. */
export const LONGEST_NAME = 200;

/** `<tenant>/<agent>`; for an agent of shared printers, `/<agent>`. */
export function nameOf(of: ScopedAgent): string {
  return `${of.scope ?? ''}/${of.agentId}`;
}

/** null: the text is no stream's name. */
export function parseName(name: string): ScopedAgent | null {
  if (name.length > LONGEST_NAME) return null;
  const [tenant = '', agent, ...more] = name.split('/');
  const parsed = origin.safeParse({ scope: tenant === '' ? null : tenant, agentId: agent });
  return parsed.success && more.length === 0 ? parsed.data : null;
}
