/**
 * How many of the pages that were sent to a printer, job after job, are out, by what the printer says. No
 * input or output here: only arithmetic. A page is what the printer counts; labels that are not on sheets are
 * a page each.
 *
 * With a counter: the pages that it has counted since the row began are out. As long as counted and pending pages
 * add up to those sent, they are the first pages of the row.
 *   fewer  pages are gone (CANCEL at the panel, a format that the printer dropped), and no later answer tells
 *          which ones. The row is `short`: no more pages count as out than when the numbers last added up,
 *          until they add up again while the printer still prints, or just after. Only bytes that were sent a
 *          while ago are compared, since a printer may not have looked at the newest ones when it answers
 *   more   somebody else prints (the feed button, another sender): as many pages fewer count as out. Bytes that
 *          the printer has not looked at can hide a surplus, so it is over only when an answer to all that was
 *          sent shows none. Settings and stored formats look like a surplus at first: while some may still wait,
 *          a surplus counts only if it lasts
 *
 * Without a counter: the pages sent, less those that the printer says are pending, are out. This is
 * calculated twice: for all bytes sent, to keep the printer busy (the window), and for those that were sent a
 * while ago, to confirm labels (`certain`). A page that is gone cannot be told from one that is out. A
 * pending format counts with all its copies.
 */
import type { DeviceStatus } from '../../../drivers/device.ts';
import { faultFor, type JobFaultError } from '../../contract/fault.ts';
import { because } from '../../contract/reason.ts';
import type { Chunk } from '../../rendering/render-protocol.ts';
import { isBlocked, isNotDone } from '../printer/status.ts';
import { labelsOn, pagesOf } from './page-count.ts';
import { LEAST, Window, type WindowLimits } from './window.ts';

/** A job whose pages are in the row. */
export interface RowLedger {
  readonly perPage: number;
  /** The printer has said something. @param stops it stands still since now */
  told(stops: boolean): void;
}

/** What was sent with one chunk; `first` and `upTo` (excluded) are pages of the row. */
interface Part {
  of: RowLedger;
  first: number;
  upTo: number;
  labels: number;
  bytes: number;
  at: number;
}

/** Pages counted or pending beyond those sent. `unsent`: they came while nothing was sent: no format of ours. */
interface Surplus {
  since: number;
  unsent: boolean;
  /** It has lasted too long to be something that the printer had not looked at. */
  lasts: boolean;
  pages: number;
}

/** After this time, ms, a printer has looked at the bytes it took. */
export const LOOKED_AT_MS = 250;
/** A label takes at least so many times as long as a moment that can show something. */
const BETWEEN = 4;

export class Row {
  readonly window = new Window();
  readonly #members = new Set<RowLedger>();
  #counter: number | null = null;
  /** Those that are not certainly out, oldest first. */
  #parts: Part[] = [];
  #sent = 0;
  #certain = 0;
  #cleared = 0;
  #estimated = 0;
  #arrived = 0;
  #pending = false;
  #doubtful = false;
  #short = false;
  /** All that waits in the printer is the row's, and none of that is missing. */
  #exact = false;
  #surplus: Surplus | null = null;
  /** Pages that an answer had beyond those sent; 0 again once an answer to all that was sent has none. */
  #suspected = 0;
  /** Pages that all moments of the last answer had beyond those sent, at most. */
  #beyondBefore = 0;
  /** The page at which the last chunk with settings or a stored format ended: once more pages are out, only our labels are pending. */
  #besides = -1;
  /** Pages that are somebody else's, counted or still to come. */
  #strangers = 0;
  /** Pages that the counter must show when it is read next, if the last answer adds up. */
  #due: number | null = null;
  /** Since when pages are missing and nothing is pending, ms. */
  #shortSince = 0;
  /** By the last answer the printer stands still. */
  #blocked = false;

  /** What the printer's counter showed before the first page of the row; null: it has none. */
  get counter(): number | null {
    return this.#counter;
  }

  /** Pages sent, counted from the first page of the row, as all counts of pages here are. */
  get sent(): number {
    return this.#sent;
  }

  /** Pages that are certainly out. */
  get certain(): number {
    return this.#certain;
  }

  /** Pages that are out both by the counter and by what is pending: no stranger's label is among those counted. */
  get cleared(): number {
    return Math.min(this.#certain, this.#cleared);
  }

  /** Pages that were in the printer, or out, when the numbers last added up. */
  get arrived(): number {
    return this.#arrived;
  }

  /** The printer says that pages are pending. With all of the row out, they are not this agent's alone. */
  get pending(): boolean {
    return this.#pending;
  }

  /** By the last answer some pages are neither pending nor counted. The next answer, at once, says whether that is so. */
  get doubtful(): boolean {
    return this.#doubtful;
  }

  /** Pages that the printer took are neither pending nor counted. */
  get short(): boolean {
    return this.#short;
  }

  /** The counter does not tell any more which pages are out: some are missing, or somebody else prints. */
  get unclear(): boolean {
    return this.#short || this.#surplus?.lasts === true || this.#suspected > 0 || this.#strangers > 0;
  }

  /** All that waits in the printer is this job's, by an answer that is newer than what was sent last. */
  holdsOnly(member: RowLedger): boolean {
    return this.#exact && this.#parts.every(({ of }) => of === member);
  }

  /** Labels that were sent and most likely are not out yet. The window limits these. */
  get outstanding(): number {
    return this.#ahead().reduce((sum, { of, first, labels }) => {
      return sum + labels - labelsOn(Math.max(0, this.#estimated - first), labels, of.perPage);
    }, 0);
  }

  /** Whether another job in the row has labels that are not known to be out. */
  holdsOthers(member: RowLedger): boolean {
    return this.#parts.some(({ of }) => of !== member && this.#members.has(of));
  }

  /** Begins the row again with this job alone, at what the counter shows. */
  begin(member: RowLedger, counter: number | null): void {
    this.#clear();
    this.#members.add(member);
    this.#counter = counter;
  }

  /** The job's pages follow those that are in the row. */
  join(member: RowLedger): void {
    this.#members.add(member);
  }

  /** Takes the job out of the row. The pages that it has sent stay ahead of those of the other jobs. */
  leave(member: RowLedger): void {
    this.#members.delete(member);
    if (this.#members.size === 0) this.#clear();
  }

  /** Whether `chunk` may go out on top of `burst`, the chunks about to be sent. A lone chunk always may. */
  fits(chunk: Chunk, burst: readonly Chunk[], size: WindowLimits): boolean {
    const labels = burst.reduce((sum, { count }) => sum + count, this.outstanding);
    if (labels === 0) return true;
    const ahead = this.#ahead().reduce((sum, part) => sum + part.bytes, chunk.bytes.length);
    const bytes = burst.reduce((sum, part) => sum + part.bytes.length, ahead);
    const fits = labels + chunk.count <= size.labels;
    this.window.full ||= !fits;
    // The printer does not stand still for a large label; but larger ones would hold up the questions behind them.
    return fits && bytes <= (labels + chunk.count <= LEAST ? 2 * size.bytes : size.bytes);
  }

  /** The printer's connection has taken a chunk. */
  took(of: RowLedger, chunk: Chunk, at: number): void {
    const [first, labels] = [this.#sent, chunk.count];
    if (this.#ahead().length === 0) this.window.begin(at);
    this.#exact = false;
    this.#sent += pagesOf(labels, of.perPage);
    if (chunk.besides === true) this.#besides = this.#sent;
    this.#parts.push({ of, first, upTo: this.#sent, labels, bytes: chunk.bytes.length, at });
  }

  /** Counts pages as out without a status: by the printer's own job, or by delivery where that counts. */
  countTo(pages: number): void {
    this.#certain = Math.max(this.#certain, pages);
    this.#out(this.#certain);
    this.#told();
  }

  /** Takes over what the printer says. @throws JobFaultError `outcome-unknown`: something else has moved its counter */
  confirm(status: DeviceStatus, now: number): void {
    this.#pending = (status.labelsPending ?? 0) > 0;
    const wasExact = this.#exact;
    this.#exact = false;
    const before = this.#estimated;
    if (this.#counter === null) this.#byPending(status, now);
    else if (status.odometer !== null)
      this.#byCounter(status.odometer - this.#counter, status, now, wasExact);
    const blocked = isBlocked(status);
    this.window.measure(this.#estimated - before, this.#ahead().length === 0, blocked, now);
    const stops = blocked && !this.#blocked;
    this.#blocked = blocked;
    this.#told(stops);
  }

  #clear(): void {
    this.#members.clear();
    this.#counter = null;
    this.#parts = [];
    this.#sent = this.#certain = this.#cleared = this.#estimated = this.#arrived = this.#shortSince = 0;
    this.#pending = this.#doubtful = this.#short = this.#exact = this.#blocked = false;
    this.#due = this.#surplus = null;
    this.window.end();
    this.#strangers = this.#suspected = this.#beyondBefore = 0;
    this.#besides = -1;
  }

  #told(stops = false): void {
    this.#parts = this.#parts.filter(({ upTo }) => upTo > this.#certain);
    for (const member of this.#members) member.told(stops);
  }

  #byCounter(all: number, status: DeviceStatus, now: number, wasExact: boolean): void {
    if (all < this.#certain || all > this.#sent) {
      const perPage = Math.max(1, ...[...this.#members].map((member) => member.perPage));
      throw miscounted(all, this.#certain, this.#sent, perPage);
    }
    const counted = Math.max(this.#certain, all - this.#strangers);
    this.#out(counted);
    // The counter was read before what is pending, so only the next reading shows that something is missing.
    if (!this.#short && this.#due !== null && counted < this.#due) {
      this.#short = true;
      this.#shortSince = now;
    }
    this.#doubtful = this.#short;
    if (status.unfinished) return;
    if (status.labelsPending === null) {
      if (!this.#short) this.#allOutUpTo(counted);
      return;
    }
    const pending = this.#pendingOf(this.#sent, status);
    this.#cleared = this.#sent - pending;
    const addsUp = counted + pending >= this.#sent;
    // While it prints, it may still find bytes that it had not looked at, or count pages that it has printed.
    // Pages that it counts after that are somebody else's.
    if (pending > 0) this.#shortSince = now;
    if (addsUp && now - this.#shortSince < LOOKED_AT_MS) this.#short = false;
    this.#doubtful = this.#short || !addsUp;
    const suspected = this.#suspectedIn(status, now);
    const others = Math.max(this.#othersIn(counted, status, now, wasExact), suspected);
    const ours = !this.#surplus?.lasts && this.#strangers === 0 && suspected === 0;
    this.#exact = !this.#short && ours && counted + pending === this.#sent;
    if (!this.#doubtful) this.#allOutUpTo(Math.max(this.#certain, counted - others));
    this.#due = this.#settled(now) - pending;
  }

  /**
   * Pages that are counted or pending beyond those sent: somebody else's, or a format of ours that is no
   * label. Which of those counted are the row's is not known while that lasts.
   */
  #othersIn(counted: number, status: DeviceStatus, now: number, wasExact: boolean): number {
    const others = isNotDone(status) ? 0 : Math.max(0, counted + (status.labelsPending ?? 0) - this.#sent);
    const before = this.#surplus;
    if (others === 0) {
      if (before?.lasts && this.#settled(now) < this.#sent) return before.pages;
      this.#surplus = null;
      return 0;
    }
    const { since, unsent } = before ?? { since: now, unsent: wasExact };
    const lasts = now - since >= LOOKED_AT_MS;
    const strangers = lasts && unsent ? others : 0;
    this.#strangers += strangers;
    this.#surplus = { since, unsent, lasts, pages: others - strangers };
    return others;
  }

  /**
   * Labels that came out since the counter was read hide a surplus, so it is over only by what was read at one moment. A label that
   * came out just then looks like one, so what only such moments show has to show twice. It shows nothing where a moment is so long
   * that a label comes out in most of them.
   */
  #suspectedIn(status: DeviceStatus, now: number): number {
    const certainly = this.#beyond(status);
    const moments = status.moments?.map((one) => this.#beyond(one)) ?? [certainly];
    const atMost = moments.length > 0 ? Math.min(...moments) : null;
    const longest = Math.max(0, ...(status.moments ?? []).map(({ ms = 0 }) => ms));
    const shown = BETWEEN * longest <= (this.window.labelMs ?? 0) ? (atMost ?? 0) : 0;
    const twice = Math.min(shown, this.#beyondBefore);
    this.#beyondBefore = shown;
    const beyond = certainly > 0 ? certainly : twice;
    if (atMost !== null && atMost <= 0 && this.#settled(now) === this.#sent) this.#suspected = 0;
    else if (beyond > 0 && !isNotDone(status) && this.#certain > this.#besides) this.#suspected = beyond;
    return this.#suspected;
  }

  /** Pages counted and pending, with all copies of formats that the printer says are waiting, beyond those sent. */
  #beyond(said: Pick<DeviceStatus, 'labelsPending' | 'formatsPending' | 'odometer'>): number {
    const counted = (said.odometer ?? 0) - (this.#counter ?? 0) - this.#strangers;
    const pending =
      said.formatsPending === undefined ? (said.labelsPending ?? 0) : this.#pendingOf(this.#sent, said);
    return Math.max(this.#certain, counted) + pending - this.#sent;
  }

  /** The first `counted` pages are out, and the others that were sent are in the printer. */
  #allOutUpTo(counted: number): void {
    this.#certain = counted;
    this.#arrived = this.#sent;
  }

  #byPending(status: DeviceStatus, now: number): void {
    if (status.labelsPending === null) return;
    const out = (sent: number) => sent - this.#pendingOf(sent, status);
    this.#certain = Math.max(this.#certain, out(this.#settled(now)));
    this.#out(Math.max(this.#certain, out(this.#sent)));
  }

  /** Pages that the printer has looked at by now. */
  #settled(now: number): number {
    const part = this.#parts.findLast(({ at }) => at + LOOKED_AT_MS <= now);
    return part?.upTo ?? this.#certain;
  }

  /** How many of the first `sent` pages are pending, at most. */
  #pendingOf(
    sent: number,
    { labelsPending, formatsPending }: Pick<DeviceStatus, 'labelsPending' | 'formatsPending'>,
  ): number {
    const pages = labelsPending ?? 0;
    const formats = formatsPending ?? pages;
    const waiting = formats === 0 ? [] : this.#parts.filter(({ upTo }) => upTo <= sent).slice(-formats);
    const ofFormats = waiting.reduce((sum, { first, upTo }) => sum + upTo - first, 0);
    return ofFormats + Math.max(0, pages - waiting.length);
  }

  #ahead(): Part[] {
    return this.#parts.filter(({ upTo }) => upTo > this.#estimated);
  }

  #out(upTo: number): void {
    this.#estimated = Math.max(this.#estimated, upTo);
  }
}

/** The counter has moved by something else than what was sent. */
export function miscounted(pages: number, least: number, most: number, perPage: number): JobFaultError {
  const what = perPage === 1 ? 'labels' : 'pages';
  const counted = because('pages-miscounted', { counted: pages, what, least, most });
  return faultFor('outcome-unknown', counted);
}
