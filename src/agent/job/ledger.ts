/**
 * How far one job is, and what is on record of it: only the ledger changes the job's counts and writes its entry
 * in the journal. A call that would break a rule below throws, and changes nothing.
 *
 *   0 ≤ base ≤ sent ≤ intent ≤ total      0 ≤ printed ≤ intent      printed only grows
 *
 *   base     labels done with when the printer's counter was read (`odometer`); it counts later labels since
 *   intent   no label from here on was sent. Durable before the bytes of the labels that it covers go out
 *   sent     labels that the printer's connection took
 *   printed  labels of which the printer said that they are out
 *
 * Labels between `printed` and `intent` may be out or not. Where `base` is beyond `printed`, a queue that
 * confirms nothing has delivered the labels between the two, and nobody knows whether they are out.
 *
 * Each job under way at a printer has a ledger, and a range in their row (`row.ts`): one reading tells of all of them.
 */
import { faultFor } from '../../contract/fault.ts';
import { because } from '../../contract/reason.ts';
import type { JobReport } from '../../contract/report.ts';
import type { Chunk } from '../../rendering/render-protocol.ts';
import type { Journal, JournalEntry, JournalOutcome } from '../journal.ts';
import type { LinkLedger, PrinterDocument } from '../printer/link.ts';
import { LedgerError, ruled } from './ledger-rules.ts';
import type { NotedLedger } from './note.ts';
import { labelsOn, pagesOf } from './page-count.ts';
import { miscounted, type Row, type RowLedger } from './row.ts';

interface LedgerOptions {
  journal: Journal;
  row: Row;
  queueId: string;
  printerId: string;
  delivery: number;
  total: number;
  /** The first label that is to be printed. */
  from: number;
  /** Labels that the printer counts as one: those of a page. */
  perPage: number;
}

export class Ledger implements RowLedger, LinkLedger {
  readonly perPage: number;
  /** What the journal has of earlier deliveries. */
  readonly found: JournalOutcome | null;
  readonly #journal: Journal;
  readonly #row: Row;
  #entry: JournalEntry;
  /** The page of the row at which the label `base` begins. */
  #start = 0;
  #arrived: number;
  #unclear = false;
  /** Pages of the job behind that may be out too, by the note of another agent. */
  #noted = 0;
  /** Labels of this job were sent after the counter had been read. So no later reading tells what is out of the job behind. */
  #goneOn = false;
  /** The counter of the printer at rest has settled it. */
  #settled = false;
  /** The job behind which an earlier delivery has sent this one. */
  #ahead = '';
  /** Waits for what was written to be durable. */
  onDisk: (written: Promise<void>) => Promise<void> = (written) => written;

  constructor({ journal, row, queueId, printerId, delivery, total, from, perPage }: LedgerOptions) {
    [this.#journal, this.#row, this.perPage] = [journal, row, perPage];
    this.found = journal.look(queueId, perPage);
    this.#arrived = from;
    const counts = { total, base: from, odometer: null, intent: from, sent: from, printed: from };
    // A queue that has lost the job counts from 1 again, but what is reported now must count as newer.
    const newest = Math.max(delivery, (this.found?.entry.delivery ?? 0) + 1);
    this.#entry = ruled({ queueId, printerId, delivery: newest, ...counts });
  }

  get queueId(): string {
    return this.#entry.queueId;
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

  /** Where the job goes on once nothing is under way: the labels before it are out, or were delivered. */
  get next(): number {
    return Math.max(this.base, this.printed);
  }

  /** What the counter showed, or will show, before the label at `base` is out; null: it does not tell. */
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

  /** Pages that the labels from `base` to `intent` take. */
  get pages(): number {
    return pagesOf(this.intent - this.base, this.perPage);
  }

  get outstanding(): number {
    return this.#row.outstanding;
  }

  /** The most pages that may be out since the counter showed `odometer`: this job's and the job behind's. */
  get most(): number {
    return this.pages + Math.max(this.#noted, this.#journal.behind(this.#entry, this.perPage));
  }

  /** Labels that were in the printer, or out, when the numbers last added up. */
  get arrived(): number {
    return this.#arrived;
  }

  /** All labels are out, by the counter and by what is pending, whatever becomes of the job behind. */
  get cleared(): boolean {
    return this.printed === this.total && this.#row.cleared >= this.#end;
  }

  /** Some labels may be out that the printer has not confirmed. */
  get uncertain(): boolean {
    return this.intent > this.printed;
  }

  /** Something was sent, or is about to be, and the printer may still say what became of it. */
  get underWay(): boolean {
    return this.document !== undefined || this.intent > this.next;
  }

  /** The entry to keep. Without the odometer where that cannot tell any more which labels are out. */
  get lasting(): JournalEntry {
    return this.#unclear ? { ...this.#entry, odometer: null } : this.#entry;
  }

  /** Where the job stands, for the next agent. @param counts whether that one can go by the printer's counter */
  standing(counts: boolean): NotedLedger {
    const { base, odometer, printed, intent } = this.lasting;
    const sent = Math.max(printed, this.#arrived);
    const told = counts && odometer !== null;
    return { ...(told ? { base, odometer } : { base: printed, odometer: null }), printed, sent, intent };
  }

  /**
   * Takes over the counts of an earlier delivery.
   * @param behind pages of the job behind that may be out too
   * @param ahead the job behind which this agent has sent this one
   */
  restore(left: Partial<Omit<JournalEntry, 'delivery' | 'total'>>, behind = 0, ahead = ''): void {
    const { delivery, total } = this.#entry;
    [this.#noted, this.#ahead] = [behind, ahead];
    this.#entry = ruled({ ...this.#entry, ...left, delivery, total });
    this.#goneOn = behind === 0 && this.uncertain;
    this.#arrived = this.#entry.sent;
  }

  /** Begins the row with this job, at what the counter shows now. Nothing may be under way. */
  begin(odometer: number | null): void {
    this.#must(!this.underWay, 'the counter is read anew while labels are under way');
    this.#restart(this.next, this.printed, odometer);
  }

  /** Puts the job into the row behind the jobs there, all of whose labels have been sent. */
  join(): void {
    this.#must(!this.underWay, 'it is under way already');
    const { counter, sent } = this.#row;
    this.#rebase(this.next, this.printed, counter === null ? null : counter + sent);
    this.#start = sent;
    this.#unclear = this.#row.unclear;
    this.#row.join(this);
  }

  /** The reading that has settled the job ahead has settled this one in the journal (`settle`): takes that over. */
  settledBehind(): void {
    const found = this.#journal.look(this.queueId);
    if (found === null || found.entry.intent > found.entry.base) return;
    const upTo = Math.max(found.entry.base, this.printed);
    this.leave();
    this.#rebase(upTo, upTo, found.entry.odometer);
  }

  /**
   * Another agent had sent these labels behind those of the job `ahead`, and this agent has brought that job to an end
   * since. The counter that it read at rest settles both jobs. Labels that were counted later are not this job's.
   * @param apart the note of the job ahead did not mention this job. An agent that counted more labels than that job has held it,
   *   although the surplus may be this job's
   * @returns false: the counter tells of these as before @throws JobFaultError `outcome-unknown`
   */
  settleWith(ahead: string, apart: boolean): boolean {
    const { odometer: start } = this.lasting;
    const found = this.#journal.look(ahead);
    if (start === null || !found?.final) return false;
    const { odometer, base, intent } = found.entry;
    const known = found.final.status === 'printed' && odometer !== null;
    if (apart && !known && odometer !== null) return false;
    // If a label of the job ahead was sent after that reading, none of this job's was out at the reading.
    const shown = known && intent === base ? Math.max(odometer, start) : start;
    const upTo = this.printedAtRest(known ? shown : null);
    this.#rebase(upTo, upTo, odometer);
    return true;
  }

  committed(): Promise<void> {
    return this.onDisk(this.#journal.committed());
  }

  /** Writes down where the job stands. */
  keep(): void {
    this.#journal.write(this.lasting);
  }

  /**
   * Writes down that the labels before `upTo` are about to be sent. They may go out as soon as that is durable.
   * @param name of the job that the printer is about to make, where the printer keeps jobs
   */
  intend(upTo: number, name?: string): void {
    this.#must(upTo > this.sent, `label ${upTo} was sent before`);
    this.#must(name === undefined || !this.underWay, 'a document is under way');
    const next = ruled({ ...this.#entry, intent: Math.max(this.intent, upTo) });
    if (name !== undefined) next.document = { name, printerJob: null };
    this.#journal.write(this.#unclear ? { ...next, odometer: null } : next);
    this.#entry = next;
  }

  /** Takes `intent` back to `sent`: no byte of the labels between them has gone out. */
  withdraw(): void {
    this.#must((this.document?.printerJob ?? null) === null, 'the printer has a job for it');
    this.#entry = { ...this.#entry, intent: this.sent, document: undefined };
  }

  made(printerJob: string): void {
    this.#document({ printerJob });
    this.keep();
  }

  /** We are about to ask the printer to end its job. On record, since a person may cancel jobs there too. */
  canceling(): void {
    this.#document({ canceled: true });
    this.keep();
  }

  /** The chunk is about to be sent. @throws LedgerError where it is not the next one, or beyond `intent` */
  sends({ first, count }: Chunk): void {
    this.#must(first === this.sent, `label ${first} is not the next one`);
    this.#must(first + count <= this.intent, `label ${first + count - 1} is not written down`);
  }

  /** The printer's connection took the chunk. Of a document: the printer has said that it has all of it. */
  took(chunk: Chunk, now: number): void {
    this.sends(chunk);
    this.#must(this.#row.sent === this.#end, 'labels of another job follow');
    this.#entry = ruled({ ...this.#entry, sent: chunk.first + chunk.count });
    this.#goneOn = true;
    if (this.document !== undefined) this.#document({ whole: true });
    this.#row.took(this, chunk, now);
  }

  /** Called by the row, for each of its jobs, when the printer has said something. */
  told(stops: boolean): void {
    const { base, sent } = this.#entry;
    const out = (pages: number) =>
      base + labelsOn(Math.max(0, pages - this.#start), sent - base, this.perPage);
    if (base <= this.printed) this.#print(Math.max(this.printed, out(this.#row.certain)));
    this.#arrived = Math.max(this.#arrived, out(this.#row.arrived));
    // A crash must find on record whether the counter tells what is out, and how much was in the printer when it stopped.
    if (this.#row.unclear === this.#unclear && !stops) return;
    this.#unclear = this.#row.unclear;
    this.keep();
  }

  /** Takes over how many pages of the document under way are out, as the printer's own job says. */
  count(pages: number): void {
    // The labels between `printed` and `base` were only delivered, and may not be out.
    if (this.base > this.printed) return;
    this.#row.countTo(Math.min(pages, this.#row.sent));
    this.#print(Math.max(this.printed, this.base + labelsOn(pages, this.intent - this.base, this.perPage)));
  }

  /** Counts all labels sent as printed, for a printer that cannot say, where the operator accepts that. */
  trust(): void {
    this.#row.countTo(this.#end);
  }

  /**
   * Labels printed of a job that was cut off, by the counter of the printer at rest.
   * @throws JobFaultError `outcome-unknown` without a counter, or if it shows less than was confirmed or more than was sent
   */
  printedAtRest(odometer: number | null): number {
    const { base, printed, intent, odometer: start } = this.lasting;
    // Another agent has brought the job ahead to its end, or labels were only delivered (`base` beyond `printed`).
    const tellsNothing = base > printed || this.#journal.look(this.#ahead)?.final === null;
    if (start === null || odometer === null || tellsNothing) {
      throw faultFor('outcome-unknown', because('sending-cut-off', {}));
    }
    const counted = odometer - start;
    const told = base + labelsOn(counted, intent - base, this.perPage);
    if (counted < 0 || counted > this.most || told < printed) {
      throw miscounted(counted, pagesOf(printed - base, this.perPage), this.most, this.perPage);
    }
    return told;
  }

  /**
   * The first `upTo` labels are out, the others neither out nor under way. `odometer`, of the printer at rest, tells of the job
   * behind too, which may not be in hand now: whatever is counted later is none of its labels.
   */
  settle(upTo: number, odometer: number | null = null): void {
    this.#must(upTo >= this.printed && upTo <= this.intent, `${upTo} labels cannot be out`);
    const before = this.lasting;
    this.#settled = true;
    this.#restart(upTo, upTo, odometer);
    if (odometer !== null) this.#journal.settleBehind(before, this.#entry, this.perPage);
  }

  /**
   * The document under way has ended: `pages` pages from `base` on are done with. Labels that were only
   * delivered stay uncertain, and so do all labels after them.
   * @throws JobFaultError `outcome-unknown` when there are fewer than were said to be out
   */
  done(pages: number, confirmed: boolean): void {
    const upTo = this.base + labelsOn(pages, this.intent - this.base, this.perPage);
    if (confirmed && this.base <= this.printed) {
      const least = pagesOf(this.printed - this.base, this.perPage);
      if (upTo < this.printed) throw miscounted(pages, least, this.pages, this.perPage);
      this.settle(upTo);
    } else this.#restart(upTo, this.printed, null);
  }

  /** Writes the outcome and the duty to report it, in one commit. Nobody is told before that is durable. */
  finish(report: JobReport): void {
    this.leave();
    const { base, intent, odometer } = this.#entry;
    // Stored as if its last label had been sent after this reading: so `settleWith` does not take the reading for the job behind.
    const again = this.#goneOn && odometer !== null && base === intent && base > 0;
    const last = again ? { base: base - 1, odometer: odometer - 1 } : {};
    // A settled job that did not end as printed leaves no reading: what the counter shows later may be somebody else's labels.
    // So the job behind is held (`settleWith`). It is, too, where labels are gone of which nobody knows whose they were.
    const dropped = report.error?.reason?.code === 'dropped';
    const silent = dropped || (this.#settled && report.status !== 'printed') ? { odometer: null } : {};
    this.#journal.finish({ ...this.#entry, ...last, ...silent }, report);
  }

  /** The job goes back to its lane: writes where it stands and, with a report, the duty to publish that. */
  handBack(report: JobReport | null): void {
    this.leave();
    if (report === null) this.keep();
    else this.#journal.handBack(this.lasting, report);
  }

  leave(): void {
    this.#row.leave(this);
  }

  /** The page of the row behind those of the labels sent. */
  get #end(): number {
    return this.#start + pagesOf(this.sent - this.base, this.perPage);
  }

  /** Begins the row anew with this job alone, and nothing under way. */
  #restart(base: number, printed: number, odometer: number | null): void {
    this.#must(!this.#row.holdsOthers(this), 'labels of another job are under way');
    this.#rebase(base, printed, odometer);
    this.#start = 0;
    this.#unclear = false;
    this.#row.begin(this, odometer);
  }

  #rebase(base: number, printed: number, odometer: number | null): void {
    const to = { base, intent: base, sent: base, printed, odometer, document: undefined };
    this.#entry = ruled({ ...this.#entry, ...to });
    this.#arrived = base;
    this.#noted = 0;
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
