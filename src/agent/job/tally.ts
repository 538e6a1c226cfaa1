/**
 * How far a job is, by what was sent and by what the printer says. No input or output here: only arithmetic.
 *
 * With an odometer, what it has counted since the job's start is how many came out, and they are the first ones as
 * long as what is pending, what is counted and what was sent add up. Where they do not, labels are gone (CANCEL at the
 * panel, a format that the printer dropped), and which ones, no later answer tells: the job is `short` from then on,
 * and counts as printed no more than when they last added up. They are compared for bytes that were sent a while ago,
 * since a printer may not have looked at the newest ones yet when it answers.
 *
 * Without one, what was sent less what the printer says is pending, and then twice: at once, to keep the printer busy
 * (`estimated`), and only for bytes that were sent a while ago, as what counts (`entry.printed`). A label that is gone
 * cannot be told from one that is out. What waits as a whole counts with all its copies.
 */
import type { DeviceStatus } from '../../../drivers/device.ts';
import { JobFaultError } from '../../contract/fault.ts';
import type { Chunk } from '../../rendering/render-protocol.ts';
import type { JournalEntry } from './journal.ts';
import { labelsOn, pagesOf } from './page-count.ts';

export interface WindowSize {
  labels: number;
  bytes: number;
}

export class Tally {
  readonly entry: JournalEntry;
  /** Labels that are out, most likely: what the window goes by. */
  estimated: number;
  /** Labels are pending in the printer, as far as it says: with all of ours counted, they are not ours alone. */
  pending = false;
  /** By the last answer labels are neither pending nor counted; the next one, at once, says whether that is so. */
  doubtful = false;
  /** Labels that the printer took are neither pending nor counted. */
  short = false;
  /** Labels that were in the printer, or out, when all of them last added up. */
  arrived: number;
  readonly #settleMs: number;
  readonly #perPage: number;
  /** What was sent and is not out yet, oldest first. `upTo`: labels sent with it. */
  #under: { upTo: number; bytes: number }[] = [];
  /** When how much had been sent, as far as it has not settled. */
  #marks: { sent: number; at: number }[] = [];
  /** What was sent and is not certainly out, oldest first. */
  #chunks: { first: number; upTo: number }[] = [];
  #settled: number;
  /** Labels that must have been counted when the counter is read next, for the last answer to add up. */
  #due: number | null = null;
  /** Since when it has not added up with nothing more to come, ms. */
  #shortSince = 0;

  /**
   * @param settleMs after which time a printer has looked at the bytes it took
   * @param perPage labels that the printer counts as one
   */
  constructor(entry: JournalEntry, settleMs: number, perPage = 1) {
    this.entry = entry;
    this.estimated = entry.printed;
    this.#settled = entry.printed;
    // Nothing more was sent before all of it had arrived.
    this.arrived = entry.sent;
    this.#settleMs = settleMs;
    this.#perPage = perPage;
  }

  get outstanding(): number {
    return this.entry.sent - this.estimated;
  }

  /** Whether `chunk` may go out on top of `burst`, the chunks about to be sent. A lone chunk always may. */
  fits(chunk: Chunk, burst: readonly Chunk[], window: WindowSize): boolean {
    const ahead = [...this.#under, ...burst.map(({ bytes }) => ({ bytes: bytes.length }))];
    const labels = burst.reduce((sum, { count }) => sum + count, this.outstanding);
    if (labels === 0) return true;
    const bytes = ahead.reduce((sum, part) => sum + part.bytes, chunk.bytes.length);
    return labels + chunk.count <= window.labels && bytes <= window.bytes;
  }

  wrote(chunk: Chunk, now: number): void {
    this.entry.sent = chunk.first + chunk.count;
    this.#under.push({ upTo: this.entry.sent, bytes: chunk.bytes.length });
    this.#marks.push({ sent: this.entry.sent, at: now });
    this.#chunks.push({ first: chunk.first, upTo: this.entry.sent });
  }

  /** Everything sent counts as printed: for a printer that cannot say, where the operator accepts that. */
  trustTransport(): void {
    this.entry.printed = this.entry.sent;
    this.#out(this.entry.sent);
  }

  /** @throws JobFaultError `outcome-unknown` when the printer's counter cannot be this job's alone */
  apply(status: DeviceStatus, now: number): void {
    const { entry } = this;
    this.pending = (status.labelsPending ?? 0) > 0;
    if (entry.odometer === null) this.#byPending(status, now);
    else if (status.odometer !== null) {
      this.#byCounter(
        printedBy(entry, status.odometer - entry.odometer, entry.sent, this.#perPage),
        status,
        now,
      );
    }
    this.#chunks = this.#chunks.filter(({ upTo }) => upTo > entry.printed);
  }

  #byCounter(counted: number, status: DeviceStatus, now: number): void {
    const { entry } = this;
    this.#out(counted);
    // The counter was read before what is pending, so only the next reading shows that something is missing.
    if (!this.short && this.#due !== null && counted < this.#due) {
      this.short = true;
      this.#shortSince = now;
    }
    this.doubtful = this.short;
    if (status.unfinished) return;
    if (status.labelsPending === null) {
      if (!this.short) this.#allOutUpTo(counted);
      return;
    }
    this.#settle(now);
    const pending = this.#pendingOf(entry.sent, status);
    const addsUp = counted + pending >= entry.sent;
    // As long as it prints it may find what it had not looked at, or count what it has printed. After that, what is
    // counted is something else.
    if (pending > 0) this.#shortSince = now;
    if (addsUp && now - this.#shortSince < this.#settleMs) this.short = false;
    this.doubtful = this.short || !addsUp;
    if (!this.doubtful) this.#allOutUpTo(counted);
    this.#due = this.#settled - pending;
  }

  /** The first `counted` labels are out, and the others that were sent are in the printer. */
  #allOutUpTo(counted: number): void {
    this.entry.printed = counted;
    this.arrived = this.entry.sent;
  }

  #byPending(status: DeviceStatus, now: number): void {
    if (status.labelsPending === null) return;
    const { entry } = this;
    this.#settle(now);
    const out = (sent: number) => sent - this.#pendingOf(sent, status);
    entry.printed = Math.max(entry.printed, out(this.#settled));
    this.#out(Math.max(entry.printed, out(entry.sent)));
  }

  #settle(now: number): void {
    for (
      let mark = this.#marks[0];
      mark !== undefined && mark.at + this.#settleMs <= now;
      mark = this.#marks[0]
    ) {
      this.#settled = mark.sent;
      this.#marks.shift();
    }
  }

  /** How many of the first `sent` labels are pending, at most. */
  #pendingOf(sent: number, { labelsPending, formatsPending }: DeviceStatus): number {
    const labels = labelsPending ?? 0;
    const formats = formatsPending ?? labels;
    const waiting = this.#chunks.filter(({ upTo }) => upTo <= sent).slice(-formats);
    if (formats === 0 || waiting.length === 0) return labels * this.#perPage;
    const ofFormats = waiting.reduce((sum, { first, upTo }) => sum + upTo - first, 0);
    return ofFormats + Math.max(0, labels - waiting.length) * this.#perPage;
  }

  #out(upTo: number): void {
    this.estimated = Math.max(this.estimated, upTo);
    this.#under = this.#under.filter((part) => part.upTo > this.estimated);
  }
}

/**
 * Labels printed, by the odometer of a printer at rest, when a job was cut off between its start and now.
 * @param perPage labels that the printer counts as one
 * @throws JobFaultError `outcome-unknown` when the counter says less than was confirmed or more than was sent
 */
export function printedAtRest(entry: JournalEntry, odometer: number | null, perPage: number): number {
  if (entry.odometer === null || odometer === null) {
    throw new JobFaultError(
      'outcome-unknown',
      'Sending was cut off, and no counter of the printer tells which labels of this job came out',
    );
  }
  return printedBy(entry, odometer - entry.odometer, entry.intent, perPage);
}

/** Labels printed when the printer has counted so many pages since `base`. @throws JobFaultError `outcome-unknown` */
function printedBy(entry: JournalEntry, pages: number, upTo: number, perPage: number): number {
  const labels = upTo - entry.base;
  const most = pagesOf(labels, perPage);
  const printed = entry.base + labelsOn(pages, labels, perPage);
  if (pages <= most && printed >= entry.printed) return printed;
  const what = perPage === 1 ? 'labels' : 'pages';
  const least = pagesOf(entry.printed - entry.base, perPage);
  throw new JobFaultError(
    'outcome-unknown',
    `The printer counts ${pages} more ${what} where ${least} to ${most} were expected: it printed something else too, or lost count`,
  );
}
