/** Parses the jobs and reports in a queue, which another version may have written. */
import type { z } from 'zod';
import type { Lane } from '../contract/lane.ts';
import { LIMITS } from '../contract/limits.ts';
import { parseJson } from '../contract/parse-json.ts';
import { isLabelRecord } from '../contract/print-request.ts';
import { type QueuedJob, queuedJob } from '../contract/queued-job.ts';
import { readReport } from '../contract/read-report.ts';
import type { Report } from '../contract/report.ts';
import { longFields } from '../contract/template.ts';
import { issuePaths } from './issue-paths.ts';
import type { QueueLogger } from './queue-log.ts';

type Parsed<T> = { value: T } | { issues: string[] };

/** Most unknown words that are logged. */
const MOST_UNKNOWN = 100;

function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** A job that this version cannot read, as its lane delivered it. */
export interface UnreadableJob {
  /** As `queueIdOf` makes it, if we added the job. */
  queueId: string;
  lane: Lane;
  /** `path: what is wrong`, without values. */
  issues: string[];
  /** As `Delivery.note`. */
  note: unknown;
}

/** Most values in a job besides its records and labels; no template of ours has a tenth of that. */
const MOST_VALUES = 200_000;

const withoutTemplate = queuedJob.omit({ template: true });

/**
 * Never throws; the issues never contain a value.
 * @param template the job's template, where `json` does not contain it
 */
export function parseJob(json: string, template?: QueuedJob['template']): Parsed<QueuedJob> {
  const data = jsonOf(json);
  if (data === undefined) return { issues: [': not JSON'] };
  const hostile = tooMuch(data);
  if (hostile !== null) return { issues: [hostile] };
  if (template === undefined) return withShortValues(parse(queuedJob, data));
  const parsed = parse(withoutTemplate, data);
  return 'issues' in parsed ? parsed : withShortValues({ value: { ...parsed.value, template } });
}

function withShortValues(parsed: Parsed<QueuedJob>): Parsed<QueuedJob> {
  if ('issues' in parsed) return parsed;
  const { records, template } = parsed.value;
  const long = records.findIndex(
    (record) => !isLabelRecord(record, LIMITS.valueLength) && longFields(record, template).length > 0,
  );
  return long < 0 ? parsed : { issues: [`records/${long}: a value is too long`] };
}

function parse<T>(schema: z.ZodType<T>, data: unknown): Parsed<T> {
  const parsed = schema.safeParse(data);
  return parsed.success ? { value: parsed.data } : { issues: issuePaths(parsed.error) };
}

/**
 * Why this is no job; null: it may be one. It is looked at before the schema, which would name each wrong value: that is slow
 * for millions of them, and on Redis an agent can write anything into its lanes.
 */
function tooMuch(data: unknown): string | null {
  if (typeof data !== 'object' || data === null || !('records' in data)) return ': not a job';
  const { records, ...rest } = data;
  if (!Array.isArray(records) || !records.every((one) => isLabelRecord(one))) return 'records: not records';
  let left = MOST_VALUES;
  const inside: unknown[] = [rest];
  if ('again' in rest && typeof rest.again === 'object' && rest.again !== null && 'labels' in rest.again) {
    const { labels } = rest.again;
    if (!Array.isArray(labels) || !labels.every(isPlace)) return 'again/labels: not labels';
    left += labels.length * 3;
  }
  for (let one = inside.pop(); one !== undefined; one = inside.pop()) {
    if (typeof one !== 'object' || one === null) continue;
    const values: unknown[] = Array.isArray(one) ? one : Object.values(one);
    left -= values.length;
    if (left < 0) return ': more values than a job has';
    inside.push(...values.filter((value) => typeof value === 'object' && value !== null));
  }
  return null;
}

/** Whether it is a label's place: the index of its record, and the index of its copy. */
function isPlace(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && value.every(Number.isInteger);
}

/** For reports. Words of another version that this one does not know are left out, and logged once. */
export function reportParser(logger: QueueLogger): (json: string) => Parsed<Report> {
  /** Unknown words that have been logged. */
  const unknown = new Set<string>();
  return (json) => {
    const read = readReport(jsonOf(json));
    if ('issues' in read) return { issues: [...read.issues] };
    const news = read.ignored.filter((one) => !unknown.has(one));
    if (news.length > 0 && unknown.size < MOST_UNKNOWN) {
      for (const one of news) unknown.add(one);
      const { agentId } = read.report;
      logger.warn({ agentId, ignored: news }, 'left out of a report: of another version, or not valid');
    }
    return { value: read.report };
  };
}
