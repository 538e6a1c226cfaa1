/**
 * Reads a report of an agent of any version: what this version does not know is left out and named, the rest counts.
 * An unknown reason becomes `other`, an unknown fault `internal`, a format in an unknown language is left out. A held
 * job without its uncertain labels gets all that are not printed. A report's kind and a job's status are never guessed.
 */
import { z } from 'zod';
import { type JobFault, jobFault } from './fault.ts';
import { printerFormat } from './format.ts';
import { printerDescription, printerReason, printerState, unreachedPrinter } from './printer.ts';
import { agentReport, jobReportOf, type Report, report, uncertain } from './report.ts';

/** More reasons than any version will have. */
const MOST_REASONS = 100;
/** Most unknown things that are named of one report. */
const MOST_NAMED = 20;
/**
 * Most that is not understood of a report's lists, in a later version's words: 96 KB have room for some 1,300 formats. What is not
 * understood takes a hundred times as long to read as what is, so reading ends there.
 */
const MOST_STRANGE = 1_500;

/** Reasons as any version may have said, or stored, them: an unknown one is `other`. */
export const tolerantReasons = z
  .array(z.unknown())
  .max(MOST_REASONS)
  .transform((list) => [...new Set(list.map((one) => printerReason.safeParse(one).data ?? 'other'))]);

const tolerantPrinter = printerDescription.extend({
  state: printerState.catch('unknown'),
  reasons: tolerantReasons,
  formats: knownOf(printerFormat, 200).refine((formats) => formats.length > 0),
});

/** The same of a fault: an unknown code is `internal`. */
export const tolerantFault = jobFault.extend({ code: jobFault.shape.code.catch('internal') });
const UNSAID: JobFault = { code: 'internal', message: 'The agent did not say why' };
/** The service cuts this down to the labels that the job has and that are not printed. */
const ALL = { from: 0, to: 2 ** 31 - 1 };

const tolerantReport = z.discriminatedUnion('kind', [
  agentReport.extend({ printers: knownOf(tolerantPrinter, 5_000) }),
  jobReportOf({
    reasons: tolerantReasons,
    fault: tolerantFault,
    cause: tolerantFault.catch(UNSAID),
    uncertain: uncertain.catch(ALL),
  }),
]);

type ReadReport =
  | {
      report: Report;
      /** Where something was left out, without positions in lists, and why; never the received value. */
      ignored: readonly string[];
    }
  | { issues: readonly string[] };

/** @param data parsed JSON */
export function readReport(data: unknown): ReadReport {
  const strange = LISTS.find(([list, entry]) => isStrange(data, list, entry));
  if (strange !== undefined) return { issues: [`${strange[0]}: not understood`] };
  const strict = report.safeParse(data);
  if (strict.success) return { report: strict.data, ignored: [] };
  const tolerant = tolerantReport.safeParse(data);
  if (tolerant.success) return { report: tolerant.data, ignored: named(strict.error) };
  return { issues: named(tolerant.error) };
}

/** The lists of a report that may be long, and what they are of. */
const LISTS = [
  ['printers', printerDescription],
  ['unreached', unreachedPrinter],
] as const;

function isStrange(data: unknown, list: string, entry: z.ZodType): boolean {
  const entries: unknown = typeof data === 'object' && data !== null && Reflect.get(data, list);
  if (!Array.isArray(entries)) return false;
  let issues = 0;
  return entries.some((one) => {
    issues += entry.safeParse(one).error?.issues.length ?? 0;
    return issues > MOST_STRANGE;
  });
}

/** The code and not the message: some messages quote what was received. */
function named(error: z.ZodError): string[] {
  const all = error.issues.map(({ path, code }) => {
    return `${path.filter((part) => typeof part === 'string').join('/')}: ${code}`;
  });
  return [...new Set(all)].slice(0, MOST_NAMED);
}

/** A list without the entries that are not understood. */
function knownOf<T>(item: z.ZodType<T>, most: number) {
  return z
    .array(z.unknown())
    .max(most)
    .transform((list): T[] => list.flatMap((one) => item.safeParse(one).data ?? []));
}
