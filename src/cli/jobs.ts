import { Command } from 'commander';
import { JOB_STATUSES, jobStatus } from '../contract/job.ts';
import { connect, type ServiceOptions, withService } from './admin-client.ts';
import { CommandFailure, EXIT } from './failure.ts';
import { followFor, jobLine } from './job-progress.ts';
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

/** `platen job show|cancel` */
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
      options.json ? printJson(job) : printLine(jobLine(job));
    });

  withService(command.command('cancel'))
    .description('cancel a job that no printer has begun')
    .argument('<id>', 'the job')
    .option('--json', 'print JSON')
    .action(async (id: string, options: ServiceOptions & { json?: true }) => {
      const job = await (await connect(options)).cancelJob(id);
      options.json ? printJson(job) : printLine(jobLine(job));
    });

  return command;
}
