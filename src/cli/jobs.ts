import { Command } from 'commander';
import type { JobView } from '../contract/job.ts';
import { JOB_STATUSES, type JobStatus, jobStatus } from '../contract/job-life.ts';
import { type AdminClient, connect, type ServiceOptions, withService } from './admin-client.ts';
import { CommandFailure, EXIT } from './failure.ts';
import { followFor, jobLine, nextStep } from './job-progress.ts';
import { numberFrom } from './option-values.ts';
import { printJson, printLine, table } from './output.ts';
import { jobIdOf, shortIds } from './short-id.ts';
import { localTime, timeFrom } from './times.ts';

/** `platen jobs` */
export function jobsCommand(): Command {
  return withService(new Command('jobs'))
    .description('list the newest jobs')
    .option('--tenant <id>', 'only this tenant')
    .option('--status <status>', `only jobs that are ${JOB_STATUSES.join(', ')}`)
    .option('--printer <printer>', 'only those of this printer: its name, or how its ID begins')
    .option('--template <template>', 'only those of this template: its name, or how its ID begins')
    .option('--since <time>', 'only those accepted since then: 2h (ago), 3d, "2026-11-22 14:05"', timeFrom)
    .option('--until <time>', 'only those accepted before', timeFrom)
    .option('--limit <n>', 'how many', numberFrom(1, 1000), 50)
    .option('--json', 'print JSON, with times in UTC')
    .action(async (options: JobsOptions) => {
      const { tenant, printer, template, since, until, limit } = options;
      const status = jobStatus.optional().safeParse(options.status);
      if (!status.success) {
        throw new CommandFailure(`--status: expected one of ${JOB_STATUSES.join(', ')}`, EXIT.usage);
      }
      const client = await connect(options);
      const filter = { tenant, status: status.data, printer, template, since, until, limit };
      const jobs = await client.jobs(filter);
      if (options.json) return printJson(jobs);
      const short = shortIds(jobs.map(({ id }) => id));
      const rows = jobs.map((job) => [
        short.get(job.id) ?? job.id,
        job.status,
        `${job.labels.printed}/${job.labels.total}`,
        job.printer.name,
        job.template.name,
        localTime(job.createdAt),
        job.error?.code ?? job.reasons.join(', '),
      ]);
      printLine(table(['ID', 'STATUS', 'LABELS', 'PRINTER', 'TEMPLATE', 'ACCEPTED', 'REASON'], rows));
    });
}

interface JobsOptions extends ServiceOptions {
  tenant?: string;
  status?: string;
  printer?: string;
  template?: string;
  since?: string;
  until?: string;
  limit: number;
  json?: true;
}

const JOB = 'the job: its ID, or as much of its beginning as no other has';

/** `platen job show|cancel|release|retry` */
export function jobCommand(): Command {
  const command = new Command('job').description('one job');
  const oneJob = (name: string, description: string) =>
    withService(command.command(name)).description(description).argument('<id>', JOB);

  oneJob('show', "show a job's state")
    .option('--follow', 'stay until the job has ended')
    .option('--timeout <seconds>', 'how long --follow stays', numberFrom(1, 1_000_000), 3600)
    .option('--json', 'print JSON')
    .action(
      async (begun: string, options: ServiceOptions & { follow?: true; timeout: number; json?: true }) => {
        const { client, id } = await theJob(begun, options);
        const job = options.follow ? await followFor(client, id, options.timeout) : await client.job(id);
        options.json ? printJson(job) : printLine(jobLine(job) + nextStep(job));
      },
    );

  oneJob('cancel', 'cancel a job; one that prints stops at the next label')
    .option('--force', 'also if no agent serves its printer, and some labels may be out')
    .option('--json', 'print JSON')
    .action(async (begun: string, options: ServiceOptions & { force?: true; json?: true }) => {
      const { client, id } = await theJob(begun, options);
      const job = await client.cancelJob(id, options.force === true);
      options.json ? printJson(job) : printLine(jobLine(job) + nextStep(job));
    });

  oneJob('release', 'have a held job go on, after a look at which labels are out')
    .option('--print-uncertain', 'the uncertain labels are not there: print them, and what follows')
    .option('--skip-uncertain', 'the uncertain labels are there: print what follows')
    .option('--from <label>', 'print from this label on, counted from 1', numberFrom(1, 1_000_000))
    .option('--json', 'print JSON')
    .action(async (begun: string, options: ServiceOptions & Choice & { json?: true }) => {
      const { client, id } = await theJob(begun, options);
      const resumed = await client.resumeJob(id, firstLabel(await endedAs(client, id, 'held'), options));
      options.json ? printJson(resumed) : printLine(jobLine(resumed));
    });

  oneJob('retry', 'have a failed job go on at its first label that is not printed')
    .option('--json', 'print JSON')
    .action(async (begun: string, options: ServiceOptions & { json?: true }) => {
      const { client, id } = await theJob(begun, options);
      await endedAs(client, id, 'failed');
      const resumed = await client.resumeJob(id);
      options.json ? printJson(resumed) : printLine(jobLine(resumed));
    });

  return command;
}

async function theJob(begun: string, options: ServiceOptions) {
  const client = await connect(options);
  return { client, id: await jobIdOf(client, begun) };
}

interface Choice {
  printUncertain?: true;
  skipUncertain?: true;
  from?: number;
}

/** A held job may go on only where a person says from where, a failed one only where that is certain. */
async function endedAs(client: AdminClient, id: string, status: JobStatus): Promise<JobView> {
  const job = await client.job(id);
  if (job.status === status) return job;
  const instead =
    job.status === 'held' ? '; see "job release"' : job.status === 'failed' ? '; see "job retry"' : '';
  throw new CommandFailure(`The job is ${job.status}, not ${status}${instead}.`);
}

/**
 * From 0; undefined: nothing is uncertain, and nothing was said.
 * @throws CommandFailure where the choice is none, or more than one
 */
function firstLabel(job: JobView, choice: Choice): number | undefined {
  const { printUncertain, skipUncertain, from } = choice;
  const uncertain = job.uncertain ?? { from: job.labels.printed, to: job.labels.printed };
  const chosen = [
    ...(printUncertain ? [uncertain.from] : []),
    ...(skipUncertain ? [uncertain.to] : []),
    ...(from === undefined ? [] : [from - 1]),
  ];
  const [first] = chosen;
  if (chosen.length === 1 || (chosen.length === 0 && uncertain.to === uncertain.from)) return first;
  const range = `labels ${uncertain.from + 1} to ${uncertain.to} of ${job.labels.total} may be out or not`;
  const message = `Say one of --print-uncertain, --skip-uncertain and --from: ${range}.`;
  throw new CommandFailure(message, EXIT.usage);
}
