/**
 * Agents' reports on their way to the service, in Redis (`report-stream.ts`, `report-reader.ts`) or in PostgreSQL
 * (`postgres/reports.ts`): many are handed over at once, those of one agent in the order in which it published them.
 */
import { setImmediate } from 'node:timers/promises';
import type { Report } from '../contract/report.ts';
import type { reportParser } from './payload.ts';
import type { ErrorLogger, QueueLogger } from './queue-log.ts';
import { nameOf, parseName, type ScopedAgent } from './report-name.ts';
import type { StopLimits } from './stop-limits.ts';

export interface ReceivedReport {
  report: Report;
  /** Since it was published, ms; 0 where that is not known. */
  ageMs: number;
}

/** When it throws, the same reports are handed over again, maybe with more: none is lost, and they stay in order. */
export type ReportHandler = (batch: readonly ReceivedReport[]) => Promise<void>;

export interface ReportReaderOptions {
  parse: ReturnType<typeof reportParser>;
  handle: ReportHandler;
  /** How long a reader's lock on an agent's reports lasts after each batch, ms; then another may read. */
  lockMs: number;
  logger: QueueLogger;
  errors: ErrorLogger;
}

export interface ReportReader {
  start(): void;
  /** Waits at most `timeoutMs` for the reports in hand. Idempotent. */
  stop(options?: StopLimits): Promise<void>;
}

export interface ReportStore {
  /** How many reports of an agent nobody has handled yet. */
  unread(of: ScopedAgent): Promise<number>;
  reader(options: ReportReaderOptions): ReportReader;
}

/** ms until the same is tried again, at first and at most. */
export const BACKOFF = { first: 250, most: 30_000 };

/** After so many ms of reading there is a pause, so that the process can do other work. */
const STRETCH = 5;

interface Found {
  name: string;
  id: string;
  json: string;
  ageMs: number;
}

/**
 * Reads reports. Those that cannot be read, or that name another agent, are left out and logged.
 * @returns the reports, and how long reading took, ms, without the pauses
 */
export async function readable(
  options: Pick<ReportReaderOptions, 'parse' | 'errors'>,
  found: readonly Found[],
): Promise<{ reports: ReceivedReport[]; tookMs: number }> {
  const reports: ReceivedReport[] = [];
  let [tookMs, since] = [0, performance.now()];
  for (const one of found) {
    const report = ownReport(options, one);
    if (report !== null) reports.push({ report, ageMs: one.ageMs });
    const now = performance.now();
    if (now - since < STRETCH) continue;
    tookMs += now - since;
    await setImmediate();
    since = performance.now();
  }
  return { reports, tookMs: tookMs + performance.now() - since };
}

function ownReport(
  options: Pick<ReportReaderOptions, 'parse' | 'errors'>,
  { name, id, json }: Found,
): Report | null {
  const parsed = options.parse(json);
  if ('issues' in parsed) {
    const reason = new Error(`${name}: ${parsed.issues.join(', ')}`);
    options.errors.report('unreadable payload set aside', reason, { queue: name, jobId: id });
    return null;
  }
  const { value } = parsed;
  const scope = value.kind === 'agent' ? value.tenantId : parseName(name)?.scope;
  if (nameOf({ scope: scope ?? null, agentId: value.agentId }) === name) return value;
  const reason = new Error(`${name} is not ${value.agentId}`);
  options.errors.report("report in another agent's name left out", reason, { stream: name });
  return null;
}
