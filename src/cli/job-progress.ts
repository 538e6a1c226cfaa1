/** Follows a job until it ends, and shows how far it is. */
import { setTimeout as pause } from 'node:timers/promises';
import { isUncertain, type JobView } from '../contract/job.ts';
import type { MovedJob } from '../contract/job-details.ts';
import { hasEnded } from '../contract/job-life.ts';
import type { AdminClient } from './admin-client.ts';
import { explain } from './explain.ts';
import { CommandFailure } from './failure.ts';
import { forTerminal } from './output.ts';
import { isAway } from './refusal.ts';

const POLL_MS = 200;
/** How long a service may be away: an upgrade ends it, with labels under way first, and starts it again. */
const AWAY_MS = 5 * 60_000;

/** One line of a job's state, for people. */
export function jobLine(job: JobView): string {
  const { total, sent, printed } = job.labels;
  const waiting = job.reasons.length > 0 ? `  waiting: ${job.reasons.join(', ')}` : '';
  const count = sent > printed ? `${printed}/${total} (${sent} sent)` : `${printed}/${total}`;
  const uncertain =
    job.uncertain === null ? '' : `  uncertain: labels ${job.uncertain.from + 1} to ${job.uncertain.to}`;
  const error = job.error === null ? '' : `  ${job.error.code}: ${job.error.message}`;
  const test = job.test ? '  test' : '';
  return `${job.id}  ${job.status.padEnd(8)}  ${count} labels${test}${waiting}${uncertain}${error}`;
}

/** The other part of a job that was moved while it printed; begins with a blank. */
export function otherPart({ restOf, rests }: MovedJob): string {
  const from = restOf?.printer == null ? '' : `, moved from ${restOf.printer}`;
  const before = restOf === null ? '' : ` It is the rest of job ${restOf.id}${from}.`;
  return before + rests.map(({ id, printer }) => ` Its rest is printed by job ${id} at ${printer}.`).join('');
}

/** What a person may do about a job that has ended without all of its labels, or is to end; begins with a blank. */
export function nextStep({ id, status, uncertain, reasons }: JobView): string {
  const cancel = `or "platen job cancel ${id}"`;
  if (status === 'failed') return ` See "platen job retry ${id}", ${cancel}.`;
  if (reasons.includes('cancel-requested'))
    return ` It ends when its agent has stopped at a label: "platen job show ${id} --follow". With no agent, add --force.`;
  const unsure = isUncertain({ uncertain });
  if (status === 'canceled' && unsure)
    return ` Look which labels are there, then "platen job release ${id} --from …" with the first that is missing.`;
  if (status !== 'held') return '';
  const say = unsure ? ' --print-uncertain (or --skip-uncertain, --from)' : '';
  return ` Look which labels are there, then "platen job release ${id}${say}", ${cancel}.`;
}

/**
 * Waits until the job is in a final state, also over a restart of the service.
 * @param show called with the job whenever something about it changed
 * @param onAway called with the reason when the service has gone away, and is waited for
 * @throws the signal's reason when aborted before; CommandFailure when the service is away for too long
 */
export async function followJob(
  client: Pick<AdminClient, 'job'>,
  id: string,
  show: (job: JobView) => void,
  signal: AbortSignal,
  onAway: (reason: string) => void = () => {},
): Promise<JobView> {
  let shown = '';
  let awaySince: number | undefined;
  for (;;) {
    const job = await client.job(id, signal).catch((error: unknown) => {
      const now = performance.now();
      if (!isAway(error) || now - (awaySince ?? now) > AWAY_MS) throw error;
      if (awaySince === undefined) onAway(explain(error));
      awaySince ??= now;
    });
    if (job === undefined) {
      await pause(POLL_MS, undefined, { signal });
      continue;
    }
    awaySince = undefined;
    const line = jobLine(job);
    if (line !== shown) show(job);
    shown = line;
    if (hasEnded(job.status)) return job;
    await pause(POLL_MS, undefined, { signal });
  }
}

/** Shows progress on stderr: in place on a terminal, a line per change elsewhere. */
function progressOnStderr(): (job: JobView) => void {
  const inPlace = process.stderr.isTTY;
  return (job) => {
    const ended = hasEnded(job.status);
    const line = forTerminal(jobLine(job));
    process.stderr.write(inPlace ? `\r\x1b[K${line}${ended ? '\n' : ''}` : `${line}\n`);
  };
}

/**
 * Follows a job with progress on stderr, for at most `seconds`.
 * @throws CommandFailure when it has not ended by then; the job itself goes on
 */
export async function followFor(client: AdminClient, id: string, seconds: number): Promise<JobView> {
  const signal = AbortSignal.timeout(seconds * 1000);
  const onAway = (reason: string) =>
    process.stderr.write(`\n${reason}\nIt is waited for; the job goes on.\n`);
  return await followJob(client, id, progressOnStderr(), signal, onAway).catch((error: unknown) => {
    if (signal.aborted) throw new CommandFailure(`Job ${id} has not ended after ${seconds} s; it goes on.`);
    throw error;
  });
}
