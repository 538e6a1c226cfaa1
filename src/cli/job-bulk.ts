/** Actions on several jobs: first the service says what would become of each, then the action is done. */
import type { Command } from 'commander';
import type { z } from 'zod';
import type { JobView } from '../contract/job.ts';
import type { JobBulkResult, JobTarget, jobBulk } from '../contract/job-actions.ts';
import { JOB_STATUSES, jobStatus } from '../contract/job-life.ts';
import { type AdminClient, connect } from './admin-client.ts';
import { CommandFailure, EXIT } from './failure.ts';
import { jobLine, nextStep } from './job-progress.ts';
import { printJson, printLine, table } from './output.ts';
import { jobIdOf, shortIds, wholeId } from './short-id.ts';
import { timeFrom } from './times.ts';
import { type ServiceOptions, withService } from './which-service.ts';

/** Jobs of one request, so that each is answered soon. */
const AT_ONCE = 100;

type Bulk = z.input<typeof jobBulk>;
type Deed = Pick<Bulk, 'action' | 'uncertain' | 'to'>;

/** The options that choose jobs. */
export interface JobChoice extends ServiceOptions {
  tenant?: string;
  status?: string;
  printer?: string;
  template?: string;
  since?: string;
  until?: string;
}

export interface SeveralOptions extends JobChoice {
  why?: string;
  yes?: true;
  json?: true;
}

/** Makes it a command about jobs: those that are named, or all that match the filter. */
export function withSeveral(command: Command, description: string): Command {
  return withService(command)
    .description(description)
    .argument('[id...]', 'the jobs: their IDs, or as much of their beginning as no other has')
    .option('--status <status>', `instead of IDs: all that are ${JOB_STATUSES.join(', ')}`)
    .option('--printer <printer>', 'those of this printer: its name, or how its ID begins')
    .option('--template <template>', 'those of this template')
    .option('--tenant <id>', 'those of this tenant')
    .option('--since <time>', 'those accepted since then: 2h (ago), 3d, "2026-11-22 14:05"', timeFrom)
    .option('--until <time>', 'those accepted before', timeFrom)
    .option('--why <text>', 'why, for whoever looks at the jobs later')
    .option('--yes', 'of several jobs: do it; without it only what would become of each is shown')
    .option('--json', 'print JSON');
}

/**
 * Does an action to the one job that is named, or to several after a preview.
 * @throws CommandFailure where nothing was done, or it could not be done to some
 */
export async function onMany(
  begun: readonly string[],
  options: SeveralOptions,
  ways: {
    one: (client: AdminClient, id: string, why: { why?: string }) => Promise<JobView>;
    bulk: (client: AdminClient) => Promise<Deed>;
  },
): Promise<void> {
  const filter = filterOf(options);
  const filtered = Object.keys(filter).length > 0;
  if (begun.length > 0 === filtered) {
    throw new CommandFailure(
      'Name jobs by their IDs, or by options such as --printer and --status.',
      EXIT.usage,
    );
  }
  const client = await connect(options);
  const ids: string[] = [];
  for (const one of begun) ids.push(await jobIdOf(client, one));
  const [only] = ids;
  const why = options.why === undefined ? {} : { why: options.why };
  if (only !== undefined && ids.length === 1) {
    const job = await ways.one(client, only, why);
    options.json ? printJson(job) : printLine(jobLine(job) + nextStep(job));
    return;
  }
  const deed = { ...(await ways.bulk(client)), ...why };
  const plan = await client.bulk({ ...deed, ...(filtered ? { filter } : { ids }), dryRun: true });
  const doable = plan.jobs.filter(({ outcome }) => outcome !== 'refused');
  if (!options.yes) {
    show(plan, options);
    if (doable.length === 0) throw new CommandFailure('There is no job to which this can be done.');
    const what = doable.length === 1 ? 'this job' : `these ${doable.length} jobs`;
    throw new CommandFailure(`Nothing is done yet; with --yes ${deed.action} is done to ${what}.`);
  }
  const done: JobBulkResult = { ...plan, dryRun: false, jobs: [] };
  const others = plan.jobs.filter(({ outcome }) => outcome === 'refused');
  for (let at = 0; at < doable.length; at += AT_ONCE) {
    const chunk = doable.slice(at, at + AT_ONCE).map(({ id }) => id);
    done.jobs.push(...(await client.bulk({ ...deed, ids: chunk })).jobs);
  }
  done.jobs.push(...others);
  show(done, options);
  const refused = done.jobs.filter(({ outcome }) => outcome === 'refused').length;
  if (refused > 0)
    throw new CommandFailure(`It could not be done to ${refused} of ${done.jobs.length} jobs.`);
  if (done.more) throw new CommandFailure('There are more such jobs: do it again.');
}

/** The filter that the options ask for. */
function filterOf({ tenant, status, printer, template, since, until }: SeveralOptions) {
  const known = jobStatus.optional().safeParse(status);
  if (!known.success)
    throw new CommandFailure(`--status: expected one of ${JOB_STATUSES.join(', ')}`, EXIT.usage);
  return {
    ...(tenant !== undefined && { tenant }),
    ...(known.data !== undefined && { status: [known.data] }),
    ...(printer !== undefined && { printer }),
    ...(template !== undefined && { template }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
  };
}

/** Prints what has become, or would become, of each job. */
export function show(result: JobBulkResult, { json }: { json?: true }): void {
  if (json) {
    printJson(result);
    return;
  }
  if (result.jobs.length === 0) {
    printLine('There is no such job.');
    return;
  }
  const short = shortIds(result.jobs.map(({ id }) => id));
  const words = result.dryRun
    ? { done: 'would be done', asked: 'its agent would be asked', refused: 'refused' }
    : { done: 'done', asked: 'its agent is asked', refused: 'refused' };
  const rows = result.jobs.map(({ id, status, outcome, labels, detail, fits }) => [
    short.get(id) ?? id,
    status,
    String(labels),
    `${words[outcome]}${detail === null ? '' : `: ${detail}`}${fits ? '' : '; its label does not fit the media there'}`,
  ]);
  printLine(table(['ID', 'STATUS', 'LABELS', 'OUTCOME'], rows));
  if (result.more) printLine('… and more.');
}

/** A printer that a person names: by its name, as the service knows it, else by its ID or how that begins. */
export async function targetOf(client: AdminClient, printer: string, format?: string): Promise<JobTarget> {
  const printers = await client.printers();
  const named = printers.some(({ name }) => name === printer);
  const ids = [...new Set(printers.map(({ id }) => id))];
  const id = named ? undefined : wholeId('printers', printer, ids);
  return {
    ...(id !== undefined && ids.includes(id) ? { printerId: id } : { printer }),
    ...(format !== undefined && { format }),
  };
}
