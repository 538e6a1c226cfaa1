import { Command } from 'commander';
import { JOB_STATUSES, jobStatus } from '../contract/job-life.ts';
import { connect } from './admin-client.ts';
import { CommandFailure, EXIT } from './failure.ts';
import type { JobChoice } from './job-bulk.ts';
import { numberFrom } from './option-values.ts';
import { printList } from './output.ts';
import { shortIds } from './short-id.ts';
import { localTime, timeFrom } from './times.ts';
import { withService } from './which-service.ts';

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
      const short = shortIds(jobs.map(({ id }) => id));
      const rows = jobs.map((job) => [
        short.get(job.id) ?? job.id,
        job.test ? `${job.status} (test)` : job.status,
        `${job.labels.printed}/${job.labels.total}`,
        job.printer.name,
        job.template.name,
        localTime(job.createdAt),
        job.error?.code ?? job.reasons.join(', '),
      ]);
      printList(options, jobs, ['ID', 'STATUS', 'LABELS', 'PRINTER', 'TEMPLATE', 'ACCEPTED', 'REASON'], rows);
    });
}

interface JobsOptions extends JobChoice {
  limit: number;
  json?: true;
}
