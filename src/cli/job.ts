import { Command } from 'commander';
import { isUncertain, type JobView } from '../contract/job.ts';
import type { JobStatus } from '../contract/job-life.ts';
import { labelRanges } from '../words/label-ranges.ts';
import { type AdminClient, connect } from './admin-client.ts';
import { CommandFailure, EXIT } from './failure.ts';
import { onMany, type SeveralOptions, targetOf, withSeveral } from './job-bulk.ts';
import { followFor, jobLine, nextStep, otherPart } from './job-progress.ts';
import { numberFrom } from './option-values.ts';
import { printJson, printLine } from './output.ts';
import { jobIdOf } from './short-id.ts';
import { type ServiceOptions, withService } from './which-service.ts';

const JOB = 'the job: its ID, or as much of its beginning as no other has';

/** `platen job show|cancel|release|retry|move|reprint` */
export function jobCommand(): Command {
  const command = new Command('job').description(
    'one job, or several: show, cancel, release, retry, move, reprint',
  );
  const oneJob = (name: string, description: string) =>
    withService(command.command(name)).description(description).argument('<id>', JOB);
  const jobs = (name: string, description: string) => withSeveral(command.command(name), description);

  oneJob('show', "show a job's state")
    .option('--follow', 'stay until the job has ended')
    .option('--timeout <seconds>', 'how long --follow stays', numberFrom(1, 1_000_000), 3600)
    .option('--json', 'print JSON')
    .action(
      async (begun: string, options: ServiceOptions & { follow?: true; timeout: number; json?: true }) => {
        const { client, id } = await theJob(begun, options);
        if (options.follow) await followFor(client, id, options.timeout);
        const job = await client.movedJob(id);
        options.json ? printJson(job) : printLine(jobLine(job) + otherPart(job) + nextStep(job));
      },
    );

  jobs('cancel', 'cancel a job; one that prints stops at the next label')
    .option('--force', 'of one job: also if no agent serves its printer, and some labels may be out')
    .action(async (begun: string[], options: SeveralOptions & { force?: true }) => {
      await onMany(begun, options, {
        bulk: async () => {
          if (options.force) throw new CommandFailure('--force is for one job alone.', EXIT.usage);
          return { action: 'cancel' };
        },
        one: (client, id, why) => client.cancelJob(id, { force: options.force === true, ...why }),
      });
    });

  jobs(
    'release',
    'have a held job go on, after a look at which labels are out; of a canceled one, say which are',
  )
    .option('--print-uncertain', 'the uncertain labels are not there: print them, and what follows')
    .option('--skip-uncertain', 'the uncertain labels are there: print what follows')
    .option('--from <label>', 'of one job: from this label on, counted from 1', numberFrom(1, 1_000_000))
    .action(async (begun: string[], options: SeveralOptions & Choice) => {
      await onMany(begun, options, {
        bulk: async () => ({ action: 'release', uncertain: choiceForAll(options) }),
        one: async (client, id, why) => {
          const from = firstLabel(await undecided(client, id), options);
          return client.resumeJob(id, { ...(from !== undefined && { from }), ...why });
        },
      });
    });

  jobs('retry', 'have a failed job go on at its first label that is not printed').action(
    async (begun: string[], options: SeveralOptions) => {
      await onMany(begun, options, {
        bulk: async () => ({ action: 'retry' }),
        one: async (client, id, why) => {
          await endedAs(client, id, 'failed');
          return client.resumeJob(id, why);
        },
      });
    },
  );

  jobs('move', 'send jobs, or what is left of them, to another printer; one that prints stops first')
    .requiredOption('--to <printer>', 'the other printer: its name, or how its ID begins')
    .option('--format <format>', "of that printer: its format's name or ID")
    .option('--from <label>', 'of one held job: from this label on, counted from 1', numberFrom(1, 1_000_000))
    .action(
      async (begun: string[], options: SeveralOptions & { to: string; format?: string; from?: number }) => {
        await onMany(begun, options, {
          bulk: async (client) => {
            if (options.from !== undefined)
              throw new CommandFailure('--from is for one job alone.', EXIT.usage);
            return { action: 'move', to: await targetOf(client, options.to, options.format) };
          },
          one: async (client, id, why) =>
            client.moveJob(id, {
              ...(await targetOf(client, options.to, options.format)),
              ...(options.from !== undefined && { from: options.from - 1 }),
              ...why,
            }),
        });
      },
    );

  oneJob('reprint', 'print labels of a job that is over again, as a new job; prints its ID')
    .option('--labels <labels>', 'which, counted from 1: 3,7-9; all of them otherwise')
    .option('--printer <printer>', 'another printer: its name, or how its ID begins')
    .option('--format <format>', 'one of its formats, by name or ID')
    .option('--why <text>', 'why, for whoever looks at the job later')
    .option('--json', 'print JSON')
    .action(
      async (
        begun: string,
        options: ServiceOptions & {
          labels?: string;
          printer?: string;
          format?: string;
          why?: string;
          json?: true;
        },
      ) => {
        const { client, id } = await theJob(begun, options);
        const ranges = options.labels === undefined ? undefined : await labelsOf(client, id, options.labels);
        const made = await client.reprintJob(id, {
          ...(ranges !== undefined && { labels: ranges }),
          ...(options.printer !== undefined && (await targetOf(client, options.printer))),
          ...(options.format !== undefined && { format: options.format }),
          ...(options.why !== undefined && { why: options.why }),
        });
        options.json ? printJson({ id: made }) : printLine(made);
      },
    );

  return command;
}

async function theJob(begun: string, options: ServiceOptions) {
  const client = await connect(options);
  return { client, id: await jobIdOf(client, begun) };
}

/** @throws CommandFailure for what names no labels of the job */
async function labelsOf(client: AdminClient, id: string, text: string) {
  const { total } = (await client.job(id)).labels;
  const ranges = labelRanges(text, total);
  if (ranges !== undefined && ranges.length > 0) return ranges;
  throw new CommandFailure(
    `--labels: expected labels from 1 to ${total}, such as 3,7-9; not ${JSON.stringify(text)}`,
    EXIT.usage,
  );
}

interface Choice {
  printUncertain?: true;
  skipUncertain?: true;
  from?: number;
}

/**
 * The job, if it has the status: a held job goes on only where a person says from where, a failed one only
 * where that is certain.
 * @throws CommandFailure
 */
async function endedAs(client: AdminClient, id: string, status: JobStatus): Promise<JobView> {
  const job = await client.job(id);
  if (job.status === status) return job;
  const instead =
    job.status === 'held' ? '; see "job release"' : job.status === 'failed' ? '; see "job retry"' : '';
  throw new CommandFailure(`The job is ${job.status}, not ${status}${instead}.`);
}

/** The job, if a person has to say which of its labels are out. @throws CommandFailure */
async function undecided(client: AdminClient, id: string): Promise<JobView> {
  const job = await client.job(id);
  return job.status === 'canceled' && isUncertain(job) ? job : endedAs(client, id, 'held');
}

/** @throws CommandFailure where the options make no choice that fits several jobs */
function choiceForAll({ printUncertain, skipUncertain, from }: Choice): 'print' | 'skip' {
  if (from === undefined && printUncertain !== skipUncertain) return printUncertain ? 'print' : 'skip';
  const message =
    'Say one of --print-uncertain and --skip-uncertain for several jobs; --from is for one alone.';
  throw new CommandFailure(message, EXIT.usage);
}

/**
 * The first label to print, from 0; undefined: nothing is uncertain, and nothing was chosen.
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
