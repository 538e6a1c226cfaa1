/**
 * The row of pages that were sent to a printer, job after job, by what the printer says of them. No input or output
 * here: only arithmetic. A page is what the printer counts; labels that are not on sheets are a page each.
 *
 * With a counter, what it has counted since the row began is how many came out, and they are the first ones as long
 * as what is pending, what is counted and what was sent add up. Where they do not, pages are gone (CANCEL at the
 * panel, a format that the printer dropped), and which ones, no later answer tells: the row is `short` from then on,
 * and counts as out no more than when they last added up. They are compared for bytes that were sent a while ago,
 * since a printer may not have looked at the newest ones yet when it answers.
 *
 * Without one, what was sent less what the printer says is pending, and then twice: at once, to keep the printer busy
 * (the window), and only for bytes that were sent a while ago, as what counts (`certain`). A page that is gone cannot
 * be told from one that is out. What waits as a whole counts with all its copies.
 */
import type { DeviceStatus } from '../../../drivers/device.ts';
import { faultFor, type JobFaultError } from '../../contract/fault.ts';
import { because } from '../../contract/reason.ts';
import type { Chunk } from '../../rendering/render-protocol.ts';
import { labelsOn, pagesOf } from './page-count.ts';

export interface WindowSize {
  labels: number;
  bytes: number;
}

/** A job whose pages are in the row. */
export interface RowMember {
  readonly perPage: number;
  /** The printer has said something. */
  told(): void;
}

/** What was sent with one chunk; `first` and `upTo` (excluded) are pages of the row. */
interface Part {
  of: RowMember;
  first: number;
  upTo: number;
  labels: number;
  bytes: number;
  at: number;
}

/** After this time, ms, a printer has looked at the bytes it took. */
export const LOOKED_AT_MS = 250;

export class Row {
  readonly #settleMs: number;
  readonly #members = new Set<RowMember>();
  #counter: number | null = null;
  /** Not certainly out, oldest first. */
  #parts: Part[] = [];
  #sent = 0;
  #certain = 0;
  #cleared = 0;
  #estimated = 0;
  #arrived = 0;
  #pending = false;
  #doubtful = false;
  #short = false;
  /** Pages that must have been counted when the counter is read next, for the last answer to add up. */
  #due: number | null = null;
  /** Since when it has not added up with nothing more to come, ms. */
  #shortSince = 0;

  /** @param settleMs after which time a printer has looked at the bytes it took */
  constructor(settleMs = LOOKED_AT_MS) {
    this.#settleMs = settleMs;
  }

  /** What the printer's counter showed before the first page of the row; null: it has none. */
  get counter(): number | null {
    return this.#counter;
  }

  /** Pages, from the first of the row on: sent. */
  get sent(): number {
    return this.#sent;
  }

  /** Certainly out. */
  get certain(): number {
    return this.#certain;
  }

  /** Certainly out, and by what the printer says is pending too: what it has counted is not a stranger's label. */
  get cleared(): number {
    return Math.min(this.#certain, this.#cleared);
  }

  /** In the printer, or out, when all of them last added up. */
  get arrived(): number {
    return this.#arrived;
  }

  /** Pages are pending in the printer, as far as it says: with all of the row out, they are not ours alone. */
  get pending(): boolean {
    return this.#pending;
  }

  /** By the last answer pages are neither pending nor counted; the next one, at once, says whether that is so. */
  get doubtful(): boolean {
    return this.#doubtful;
  }

  /** Pages that the printer took are neither pending nor counted. */
  get short(): boolean {
    return this.#short;
  }

  /** Labels that were sent and most likely are not out: what the window goes by. */
  get outstanding(): number {
    return this.#ahead().reduce((sum, { of, first, labels }) => {
      return sum + labels - labelsOn(Math.max(0, this.#estimated - first), labels, of.perPage);
    }, 0);
  }

  /** Labels of another job that is still in the row are not known to be out. */
  holdsOthers(member: RowMember): boolean {
    return this.#parts.some(({ of }) => of !== member && this.#members.has(of));
  }

  /** Begins again with this job alone, at what the counter shows. */
  begin(member: RowMember, counter: number | null): void {
    this.#clear();
    this.#members.add(member);
    this.#counter = counter;
  }

  /** The job's pages follow those that are in the row. */
  join(member: RowMember): void {
    this.#members.add(member);
  }

  /** The job goes by the row no more; what it has sent is ahead of the others' all the same. */
  leave(member: RowMember): void {
    this.#members.delete(member);
    if (this.#members.size === 0) this.#clear();
  }

  /** Whether `chunk` may go out on top of `burst`, the chunks about to be sent. A lone chunk always may. */
  fits(chunk: Chunk, burst: readonly Chunk[], window: WindowSize): boolean {
    const labels = burst.reduce((sum, { count }) => sum + count, this.outstanding);
    if (labels === 0) return true;
    const ahead = this.#ahead().reduce((sum, part) => sum + part.bytes, chunk.bytes.length);
    const bytes = burst.reduce((sum, part) => sum + part.bytes.length, ahead);
    return labels + chunk.count <= window.labels && bytes <= window.bytes;
  }

  /** The printer's connection has taken a chunk. */
  took(of: RowMember, chunk: Chunk, at: number): void {
    const [first, labels] = [this.#sent, chunk.count];
    this.#sent += pagesOf(labels, of.perPage);
    this.#parts.push({ of, first, upTo: this.#sent, labels, bytes: chunk.bytes.length, at });
  }

  /** So many are out by another word than a status: the printer's own job, or the connection where that counts. */
  countTo(pages: number): void {
    this.#certain = Math.max(this.#certain, pages);
    this.#out(this.#certain);
    this.#told();
  }

  /** @throws JobFaultError `outcome-unknown` when the printer's counter cannot be the row's alone */
  confirm(status: DeviceStatus, now: number): void {
    this.#pending = (status.labelsPending ?? 0) > 0;
    if (this.#counter === null) this.#byPending(status, now);
    else if (status.odometer !== null) this.#byCounter(status.odometer - this.#counter, status, now);
    this.#told();
  }

  #clear(): void {
    this.#members.clear();
    this.#counter = null;
    this.#parts = [];
    this.#sent = this.#certain = this.#cleared = this.#estimated = this.#arrived = this.#shortSince = 0;
    this.#pending = this.#doubtful = this.#short = false;
    this.#due = null;
  }

  #told(): void {
    this.#parts = this.#parts.filter(({ upTo }) => upTo > this.#certain);
    for (const member of this.#members) member.told();
  }

  #byCounter(counted: number, status: DeviceStatus, now: number): void {
    if (counted < this.#certain || counted > this.#sent) {
      const perPage = Math.max(1, ...[...this.#members].map((member) => member.perPage));
      throw miscounted(counted, this.#certain, this.#sent, perPage);
    }
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
    // As long as it prints it may find what it had not looked at, or count what it has printed. After that, what is
    // counted is something else.
    if (pending > 0) this.#shortSince = now;
    if (addsUp && now - this.#shortSince < this.#settleMs) this.#short = false;
    this.#doubtful = this.#short || !addsUp;
    if (!this.#doubtful) this.#allOutUpTo(counted);
    this.#due = this.#settled(now) - pending;
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

  /** Pages at which the printer has looked by now. */
  #settled(now: number): number {
    const part = this.#parts.findLast(({ at }) => at + this.#settleMs <= now);
    return part?.upTo ?? this.#certain;
  }

  /** How many of the first `sent` pages are pending, at most. */
  #pendingOf(sent: number, { labelsPending, formatsPending }: DeviceStatus): number {
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
