/**
 * How a report of an agent of another version is read: what this version does not know is left out and named, the
 * rest counts. A reason without a name here is `other`, a printer in a language that nobody here prints is left out,
 * a fault of another name is `internal`, and of a held job that does not say which labels are uncertain, all are that
 * are not printed. What a report cannot be without (its kind, a job's status) is never guessed.
 */
import { z } from 'zod';
import { type JobFault, jobFault } from './fault.ts';
import { printerFormat } from './format.ts';
import { printerDescription, printerReason, printerState } from './printer.ts';
import { agentReport, jobReportOf, type Report, report, uncertain } from './report.ts';

/** More reasons than any version will have. */
const MOST_REASONS = 100;
/** What was not known is named at most so often. */
const MOST_NAMED = 20;

const reasons = z
  .array(z.unknown())
  .max(MOST_REASONS)
  .transform((list) => [...new Set(list.map((one) => printerReason.safeParse(one).data ?? 'other'))]);

const tolerantPrinter = printerDescription.extend({
  state: printerState.catch('unknown'),
  reasons,
  formats: knownOf(printerFormat, 200).refine((formats) => formats.length > 0),
});

const fault = jobFault.extend({ code: jobFault.shape.code.catch('internal') });
const UNSAID: JobFault = { code: 'internal', message: 'The agent did not say why' };
/** Those that are printed, and more than the job has, are left out where it is applied. */
const ALL = { from: 0, to: 2 ** 31 - 1 };

const tolerantReport = z.discriminatedUnion('kind', [
  agentReport.extend({ printers: knownOf(tolerantPrinter, 5_000) }),
  jobReportOf({ reasons, fault, cause: fault.catch(UNSAID), uncertain: uncertain.catch(ALL) }),
]);

export type ReadReport =
  | {
      report: Report;
      /** What was left out: where, without positions in lists, and why. Nothing of what was received. */
      ignored: readonly string[];
    }
  | { issues: readonly string[] };

/** @param data what came, as JSON says it */
export function readReport(data: unknown): ReadReport {
  const strict = report.safeParse(data);
  if (strict.success) return { report: strict.data, ignored: [] };
  const tolerant = tolerantReport.safeParse(data);
  if (tolerant.success) return { report: tolerant.data, ignored: named(strict.error) };
  return { issues: named(tolerant.error) };
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
