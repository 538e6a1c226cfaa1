import { Command } from 'commander';
import { JOB_STATUSES, type JobStatus, type JobView, jobStatus } from '../contract/job.ts';
import { type AdminClient, connect, type ServiceOptions, withService } from './admin-client.ts';
import { CommandFailure, EXIT } from './failure.ts';
import { followFor, jobLine, nextStep } from './job-progress.ts';
import { numberFrom } from './option-values.ts';
import { printJson, printLine, table } from './output.ts';

/** `platen jobs` */
export function jobsCommand(): Command {
  return withService(new Command('jobs'))
    .description('list the newest jobs')
    .option('--tenant <id>', 'only this tenant')
    .option('--status <status>', `only jobs that are ${JOB_STATUSES.join(', ')}`)
    .option('--limit <n>', 'how many', numberFrom(1, 1000), 50)
    .option('--json', 'print JSON')
    .action(
      async (options: ServiceOptions & { tenant?: string; status?: string; limit: number; json?: true }) => {
        if (options.status !== undefined && !jobStatus.safeParse(options.status).success) {
          throw new CommandFailure(`--status: expected one of ${JOB_STATUSES.join(', ')}`, EXIT.usage);
        }
        const client = await connect(options);
        const jobs = await client.jobs({
          tenant: options.tenant,
          status: options.status,
          limit: options.limit,
        });
        if (options.json) return printJson(jobs);
        const rows = jobs.map((job) => [
          job.id,
          job.status,
          `${job.labels.printed}/${job.labels.total}`,
          job.printer.name,
          job.template.name,
          job.createdAt,
          job.error?.code ?? job.reasons.join(', '),
        ]);
        printLine(table(['ID', 'STATUS', 'LABELS', 'PRINTER', 'TEMPLATE', 'CREATED', 'REASON'], rows));
      },
    );
}

/** `platen job show|cancel|release|retry` */
export function jobCommand(): Command {
  const command = new Command('job').description('one job');

  withService(command.command('show'))
    .description("show a job's state")
    .argument('<id>', 'the job')
    .option('--follow', 'stay until the job has ended')
    .option('--timeout <seconds>', 'how long --follow stays', numberFrom(1, 1_000_000), 3600)
    .option('--json', 'print JSON')
    .action(async (id: string, options: ServiceOptions & { follow?: true; timeout: number; json?: true }) => {
      const client = await connect(options);
      const job = options.follow ? await followFor(client, id, options.timeout) : await client.job(id);
      options.json ? printJson(job) : printLine(jobLine(job) + nextStep(job));
    });

  withService(command.command('cancel'))
    .description('cancel a job that no printer has begun, or that is held or failed')
    .argument('<id>', 'the job')
    .option('--json', 'print JSON')
    .action(async (id: string, options: ServiceOptions & { json?: true }) => {
      const job = await (await connect(options)).cancelJob(id);
      options.json ? printJson(job) : printLine(jobLine(job));
    });

  withService(command.command('release'))
    .description('have a held job go on, after a look at which labels are out')
    .argument('<id>', 'the job')
    .option('--print-uncertain', 'the uncertain labels are not there: print them, and what follows')
    .option('--skip-uncertain', 'the uncertain labels are there: print what follows')
    .option('--from <label>', 'print from this label on, counted from 1', numberFrom(1, 1_000_000))
    .option('--json', 'print JSON')
    .action(async (id: string, options: ServiceOptions & Choice & { json?: true }) => {
      const client = await connect(options);
      const resumed = await client.resumeJob(id, firstLabel(await endedAs(client, id, 'held'), options));
      options.json ? printJson(resumed) : printLine(jobLine(resumed));
    });

  withService(command.command('retry'))
    .description('have a failed job go on at its first label that is not printed')
    .argument('<id>', 'the job')
    .option('--json', 'print JSON')
    .action(async (id: string, options: ServiceOptions & { json?: true }) => {
      const client = await connect(options);
      await endedAs(client, id, 'failed');
      const resumed = await client.resumeJob(id);
      options.json ? printJson(resumed) : printLine(jobLine(resumed));
    });

  return command;
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
