/** Parses the jobs and reports in a queue, which another version may have written. */
import type { z } from 'zod';
import { issuePaths } from '../contract/issue-paths.ts';
import type { Lane } from '../contract/lane.ts';
import { type QueuedJob, queuedJob } from '../contract/queued-job.ts';
import { readReport } from '../contract/read-report.ts';
import type { Report } from '../contract/report.ts';
import type { QueueLogger } from './queue-log.ts';

export type Parsed<T> = { value: T } | { issues: string[] };

/** Most unknown words that are logged. */
const MOST_UNKNOWN = 100;

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

export interface Unreadable {
  /** As `queueIdOf` makes it, if we added the job. */
  queueId: string;
  lane: Lane;
  /** `path: what is wrong`, without values. */
  issues: string[];
  /** As `Delivery.note`. */
  note: unknown;
}

/** Never throws; the issues never contain a value. */
function parse<T>(schema: z.ZodType<T>, json: string): Parsed<T> {
  const data = parseJson(json);
  if (data === undefined) return { issues: [': not JSON'] };
  const parsed = schema.safeParse(data);
  return parsed.success ? { value: parsed.data } : { issues: issuePaths(parsed.error) };
}

const withoutTemplate = queuedJob.omit({ template: true });

/** @param template the job's template, where `json` does not contain it */
export function parseJob(json: string, template?: QueuedJob['template']): Parsed<QueuedJob> {
  if (template === undefined) return parse(queuedJob, json);
  const parsed = parse(withoutTemplate, json);
  return 'issues' in parsed ? parsed : { value: { ...parsed.value, template } };
}

/** Reads reports. Words of another version that this one does not know are left out, and logged once. */
export class ReportPayload {
  readonly #logger: QueueLogger;
  /** Unknown words that have been logged. */
  readonly #unknownWords = new Set<string>();

  constructor(logger: QueueLogger) {
    this.#logger = logger;
  }

  parse(json: string): Parsed<Report> {
    const read = readReport(parseJson(json));
    if ('issues' in read) return { issues: [...read.issues] };
    const news = read.ignored.filter((one) => !this.#unknownWords.has(one));
    if (news.length > 0 && this.#unknownWords.size < MOST_UNKNOWN) {
      for (const one of news) this.#unknownWords.add(one);
      const { agentId } = read.report;
      this.#logger.warn({ agentId, ignored: news }, 'left out of a report: of another version, or not valid');
    }
    return { value: read.report };
  }
}
