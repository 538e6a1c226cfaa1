/**
 * How far one job is, and what is on record of it: the only owner of its counts, and the only writer of the journal.
 * What would break a rule below throws, and changes nothing.
 *
 *   0 ≤ base ≤ sent ≤ intent ≤ total      0 ≤ printed ≤ intent      printed only grows
 *
 *   base     labels done with when the printer's counter was read (`odometer`): what is counted since are the next
 *   intent   no label from here on was sent. Durable before the bytes of the labels that it covers go out
 *   sent     the printer's connection took them
 *   printed  the printer said that they are out
 *
 * Labels between `printed` and `intent` may be out or not. `base` beyond `printed`: the labels between were delivered,
 * by a queue that confirms nothing, and nobody knows whether they are out.
 *
 * Of several jobs under way at one printer each has its ledger, and its range in the row that they share (`row.ts`):
 * one reading of the counter tells all of them.
 */
import type { DeviceStatus } from '../../../drivers/device.ts';
import { faultFor } from '../../contract/fault.ts';
import { because } from '../../contract/reason.ts';
import type { JobReport } from '../../contract/report.ts';
import type { Chunk } from '../../rendering/render-protocol.ts';
import type { Journal, JournalEntry, JournalRecord } from '../journal.ts';
import type { LinkBook, PrinterDocument } from '../printer/link.ts';
import { isBlocked } from '../printer/status.ts';
import type { UnderWay } from '../source/job-source.ts';
import { labelsOn, pagesOf } from './page-count.ts';
import { miscounted, type Row, type RowMember } from './row.ts';

export interface LedgerOptions {
  journal: Journal;
  row: Row;
  /** What the job is called in its queue. */
  queueId: string;
  printerId: string;
  /** As the queue counts it. */
  delivery: number;
  total: number;
  /** The first label that is to be printed. */
  from: number;
  /** Labels that the printer counts as one: those of a page. */
  perPage: number;
}

/** A rule of the ledger would be broken: the fault is in this program. */
export class LedgerError extends Error {}

export class Ledger implements RowMember, LinkBook {
  readonly perPage: number;
  /** What the journal has of earlier deliveries. */
  readonly found: JournalRecord | null;
  readonly #journal: Journal;
  readonly #row: Row;
  #entry: JournalEntry;
  /** The first page of this job in the row: where `base` is. */
  #start = 0;
  #arrived: number;
  #short = false;
  #blocked = false;
  /** Pages of the job behind, at most, that may be out besides. */
  #followed = 0;

  constructor({ journal, row, queueId, printerId, delivery, total, from, perPage }: LedgerOptions) {
    this.#journal = journal;
    this.#row = row;
    this.perPage = perPage;
    this.found = journal.look(queueId, perPage);
    this.#followed = this.found?.followed ?? 0;
    this.#arrived = from;
    const counts = { total, base: from, odometer: null, intent: from, sent: from, printed: from };
    // A queue that had lost the job counts from 1 again; what is reported now is newer all the same.
    const newest = Math.max(delivery, (this.found?.entry.delivery ?? 0) + 1);
    this.#entry = ruled({ queueId, printerId, delivery: newest, ...counts });
  }

  get delivery(): number {
    return this.#entry.delivery;
  }

  get total(): number {
    return this.#entry.total;
  }

  get base(): number {
    return this.#entry.base;
  }

  /** What the counter showed, or will show, before the first label from `base` on; null: it does not tell. */
  get odometer(): number | null {
    return this.#entry.odometer;
  }

  get intent(): number {
    return this.#entry.intent;
  }

  get sent(): number {
    return this.#entry.sent;
  }

  get printed(): number {
    return this.#entry.printed;
  }

  get document(): PrinterDocument | undefined {
    return this.#entry.document;
  }

  /** What the labels from `base` to `intent` take. */
  get pages(): number {
    return pagesOf(this.intent - this.base, this.perPage);
  }

  /** Pages that may have come out since the counter showed `odometer`: its own, and those of the job behind. */
  get most(): number {
    return this.pages + this.#followed;
  }

  /** Labels that were in the printer, or out, when all of them last added up. */
  get arrived(): number {
    return this.#arrived;
  }

  /** All of it is out, by all that the printer says, whatever it does with the job behind. */
  get cleared(): boolean {
    const { base, sent, printed, total } = this.#entry;
    const upTo = this.#start + pagesOf(sent - base, this.perPage);
    return printed === total && this.#row.cleared >= upTo;
  }

  /** Labels may be out of which nobody knows. */
  get uncertain(): boolean {
    return this.intent > this.printed;
  }

  /** Something was sent, or is about to be, of which the printer may still say what became of it. */
  get underWay(): boolean {
    return this.document !== undefined || this.intent > Math.max(this.base, this.printed);
  }

  /** Where labels are missing, the counter does not tell any more which ones are out. */
  get lasting(): JournalEntry {
    return this.#short ? { ...this.#entry, odometer: null } : this.#entry;
  }

  /** For whoever has the job next. @param counts whether what the printer counts will tell that one */
  standing(counts: boolean): UnderWay {
    const { base, odometer, printed, intent } = this.lasting;
    const sent = Math.max(printed, this.#arrived);
    const told = counts && odometer !== null;
    return { ...(told ? { base, odometer } : { base: printed, odometer: null }), printed, sent, intent };
  }

  /** Whether this agent has sent other jobs to the printer since its counter showed what the job goes by. */
  get sentOthersSince(): boolean {
    return this.#journal.hasSentSince(this.#entry);
  }

  /** Goes on from where an earlier delivery was. */
  restore(left: Partial<Omit<JournalEntry, 'delivery' | 'total'>>): void {
    const { delivery, total } = this.#entry;
    this.#entry = ruled({ ...this.#entry, ...left, delivery, total });
    this.#arrived = this.#entry.sent;
  }

  /** Nothing of the row is under way, and the counter shows this: it counts what is sent from now on. */
  begin(odometer: number | null): void {
    this.#must(!this.underWay, 'the counter is read anew while labels are under way');
    this.#alone(Math.max(this.base, this.printed), this.printed, odometer);
  }

  /** The job follows those in the row, of which all labels have been sent. */
  join(): void {
    this.#must(!this.underWay, 'it is under way already');
    const { counter, sent } = this.#row;
    this.#rebase(Math.max(this.base, this.printed), this.printed, counter === null ? null : counter + sent);
    this.#start = sent;
    this.#short = this.#row.short;
    this.#row.join(this);
  }

  /** So many pages of the job behind may be out too, when what became of this one's is found out. */
  followedBy(pages: number): void {
    this.#followed = pages;
  }

  /**
   * The labels of the job ahead are settled by what the counter of the printer at rest shows; so are these, which are not in
   * the row any more.
   */
  settleBehind(odometer: number): void {
    const { base, printed, intent, odometer: start } = this.#entry;
    const counted = start === null ? 0 : Math.max(0, odometer - start);
    const upTo = Math.max(printed, base + labelsOn(counted, intent - base, this.perPage));
    this.leave();
    this.#rebase(upTo, upTo, odometer);
    this.keep();
  }

  /** Resolves when all that is written down is durable. @throws JournalError */
  committed(): Promise<void> {
    return this.#journal.committed();
  }

  /** Writes down where it stands. */
  keep(): void {
    this.#journal.write(this.lasting);
  }

  /**
   * The labels before `upTo` are about to be sent, as soon as that is durable.
   * @param name what the printer's own job is about to be called, where it keeps jobs
   */
  intend(upTo: number, name?: string): void {
    this.#must(upTo > this.sent, `label ${upTo} was sent before`);
    this.#must(name === undefined || !this.underWay, 'a document is under way');
    const next = ruled({ ...this.#entry, intent: Math.max(this.intent, upTo) });
    if (name !== undefined) next.document = { name, printerJob: null };
    this.#journal.write(next);
    this.#entry = next;
  }

  /** Of what was intended and not taken, no byte has gone out. */
  withdraw(): void {
    this.#must((this.document?.printerJob ?? null) === null, 'the printer has a job for it');
    this.#entry = { ...this.#entry, intent: this.sent, document: undefined };
  }

  /** The printer has made a job for the document. */
  made(printerJob: string): void {
    this.#document({ printerJob });
    this.keep();
  }

  /** We are about to ask the printer to end its job: on record, since a person may cancel jobs there too. */
  canceling(): void {
    this.#document({ canceled: true });
    this.keep();
  }

  /** The chunk is about to be sent: it comes next, and is covered by what is on record. */
  sends({ first, count }: Chunk): void {
    this.#must(first === this.sent, `label ${first} is not the next one`);
    this.#must(first + count <= this.intent, `label ${first + count - 1} is not written down`);
  }

  /** The printer's connection took the chunk; of a document, the printer has said that it has all of it. */
  took(chunk: Chunk, now: number): void {
    this.sends(chunk);
    this.#must(
      this.#row.sent === this.#start + pagesOf(this.sent - this.base, this.perPage),
      'labels of another job follow',
    );
    this.#entry = ruled({ ...this.#entry, sent: chunk.first + chunk.count });
    if (this.document !== undefined) this.#document({ whole: true });
    this.#row.took(this, chunk, now);
  }

  /** What the printer says of the row. @throws JobFaultError `outcome-unknown` */
  confirm(status: DeviceStatus, now: number): void {
    const stops = isBlocked(status) && !this.#blocked;
    this.#blocked = isBlocked(status);
    this.#row.confirm(status, now);
    // For after a crash: how many were in a printer that stands still, at which somebody may do something meanwhile.
    if (stops) this.keep();
  }

  /** For the row. */
  told(): void {
    const { base, sent } = this.#entry;
    const out = (pages: number) =>
      base + labelsOn(Math.max(0, pages - this.#start), sent - base, this.perPage);
    if (base <= this.printed) this.#print(Math.max(this.printed, out(this.#row.certain)));
    this.#arrived = Math.max(this.#arrived, out(this.#row.arrived));
    // For after a crash: labels are missing, or are no more.
    if (this.#row.short === this.#short) return;
    this.#short = this.#row.short;
    this.keep();
  }

  /** So many pages of the document under way are out, as the printer's job says. */
  count(pages: number): void {
    // What lies between was delivered, and may not be out.
    if (this.base > this.printed) return;
    this.#row.countTo(Math.min(pages, this.#row.sent));
    this.#print(Math.max(this.printed, this.base + labelsOn(pages, this.intent - this.base, this.perPage)));
  }

  /** All that was sent counts as printed: for a printer that cannot say, where the operator accepts that. */
  trust(): void {
    this.#row.countTo(this.#start + pagesOf(this.sent - this.base, this.perPage));
  }

  /**
   * Labels printed, by the counter of a printer at rest, when the job was cut off between its start and now.
   * @throws JobFaultError `outcome-unknown` when it says less than was confirmed or more than was sent
   */
  printedAtRest(odometer: number | null): number {
    const { base, printed, intent, odometer: start } = this.lasting;
    // What was delivered before tells nothing by this counter.
    if (start === null || odometer === null || base > printed) {
      throw faultFor('outcome-unknown', because('sending-cut-off', {}));
    }
    const counted = odometer - start;
    const { most } = this;
    const told = base + labelsOn(counted, intent - base, this.perPage);
    if (counted < 0 || counted > most || told < printed) {
      throw miscounted(counted, pagesOf(printed - base, this.perPage), most, this.perPage);
    }
    return told;
  }

  /** The first `upTo` labels are out, the others are neither out nor under way; the counter shows this. */
  settle(upTo: number, odometer: number | null = null): void {
    this.#must(upTo >= this.printed && upTo <= this.intent, `${upTo} labels cannot be out`);
    this.#alone(upTo, upTo, odometer);
  }

  /**
   * So many pages from `base` on are done with, and nothing is under way any more. Labels that were only delivered
   * stay uncertain, and with them what follows.
   * @throws JobFaultError `outcome-unknown` when there are fewer than were said to be out
   */
  done(pages: number, confirmed: boolean): void {
    const upTo = this.base + labelsOn(pages, this.intent - this.base, this.perPage);
    if (confirmed && this.base <= this.printed) {
      const least = pagesOf(this.printed - this.base, this.perPage);
      if (upTo < this.printed) throw miscounted(pages, least, this.pages, this.perPage);
      this.settle(upTo);
    } else this.#alone(upTo, this.printed, null);
  }

  /** The job's outcome and the duty to report it, in one commit. Nobody is told before that is durable. */
  finish(report: JobReport): void {
    this.leave();
    this.#journal.finish(this.#entry, report);
  }

  /** The job went back to its queue: where it stands and, unless nobody is told, the duty to report it. */
  handBack(report: JobReport | null): void {
    this.leave();
    if (report === null) this.keep();
    else this.#journal.handBack(this.lasting, report);
  }

  /** What is left of it is not the row's any more. */
  leave(): void {
    this.#row.leave(this);
  }

  /** Begins the row anew, with nothing under way. */
  #alone(base: number, printed: number, odometer: number | null): void {
    this.#must(!this.#row.holdsOthers(this), 'labels of another job are under way');
    this.#rebase(base, printed, odometer);
    this.#start = 0;
    this.#short = false;
    this.#row.begin(this, odometer);
  }

  #rebase(base: number, printed: number, odometer: number | null): void {
    const to = { base, intent: base, sent: base, printed, odometer, document: undefined };
    this.#entry = ruled({ ...this.#entry, ...to });
    this.#arrived = base;
    this.#followed = 0;
  }

  #print(printed: number): void {
    if (printed !== this.printed) this.#entry = ruled({ ...this.#entry, printed });
  }

  #document(more: Partial<PrinterDocument>): void {
    const { document } = this.#entry;
    if (document === undefined) throw new LedgerError('no document is under way');
    this.#entry = { ...this.#entry, document: { ...document, ...more } };
  }

  #must(holds: boolean, what: string): void {
    if (!holds) throw new LedgerError(`job ${this.#entry.queueId}: ${what}`);
  }
}

/** @throws LedgerError */
function ruled(entry: JournalEntry): JournalEntry {
  const { base, sent, intent, total, printed, queueId } = entry;
  const rows = [
    [0, base, sent, intent, total],
    [0, printed, intent],
  ];
  const holds = rows.every((row) => row.every((count, at) => at === 0 || count >= (row[at - 1] ?? 0)));
  if (!holds) {
    const counts = JSON.stringify({ base, sent, intent, printed, total });
    throw new LedgerError(`job ${queueId}: its counts cannot be ${counts}`);
  }
  return entry;
}
