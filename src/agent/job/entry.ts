/**
 * One delivery of one job, in hand at its printer, from where journal and queue say that it stands to its end,
 * which is a result for the queue; it throws only where the journal cannot be written.
 *
 *   restore ─┬─ finished before ─────────▶ report again, done
 *            ├─ never sent ──▶ check ────▶ (fault: failed, nothing printed)
 *            ├─ cut off ─────────────────▶ the printer's loop finds out what came of it
 *            └─ sent, no usable record ──▶ held
 *   check ─▶ the printer's loop asks it for labels (`loop.ts`) ─▶ printed
 *
 * Labels that may be out are never printed again by guess: the job is held, and names them. What is on record,
 * in which order, and what follows from it after a crash: `sender.ts`.
 *
 * When the agent stops, or the printer is another agent's, a job that is waiting for its printer is handed back at once;
 * one that is printing has the grace time of a stop to finish, then stops at a label boundary, waits a bounded time for
 * what was sent to be confirmed, and is handed back with a note where to go on. One that a person cancels stops at once
 * (`forgotten.ts`), and ends: `canceled`, with the labels named that may be out.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { labelsPerPage } from '../../../drivers/languages/index.ts';
import { faultFor, JobFaultError } from '../../contract/fault.ts';
import type { LanguageId } from '../../contract/format.ts';
import { labelCount, queueIdOf } from '../../contract/queued-job.ts';
import { because } from '../../contract/reason.ts';
import type { Logger } from '../../log.ts';
import type { DeliveryOutcome } from '../../queue/index.ts';
import type { RenderPool } from '../../rendering/render-pool.ts';
import type { Journal } from '../journal.ts';
import { JournalError } from '../journal-file.ts';
import type { PrinterLink } from '../printer/link.ts';
import type { PrinterDevice } from '../printer/printer-device.ts';
import { Labels } from './labels.ts';
import { Ledger } from './ledger.ts';
import type { PrinterLoop } from './loop.ts';
import type { Note, NotedDelivery, NotedLedger } from './note.ts';
import { Outcome, type OutcomeContext } from './outcome.ts';
import type { LoopContext, Place } from './place.ts';
import { Sender } from './sender.ts';
import type { StopSignals } from './stop-signals.ts';
import type { WindowLimits } from './window.ts';

/** Longest wait for the queue to store the note of a hand-back, ms. */
const LAST_NOTE_MS = 2_000;

/** What the job works with: its printer, and where its outcome goes. */
export interface EntryContext extends OutcomeContext, Omit<LoopContext, 'held'> {
  /** No other agent wants the printer. */
  alone(): boolean;
  pool: Pick<RenderPool, 'open'>;
  window: WindowLimits;
  device: PrinterDevice;
  /** Whether the printer takes bytes of this language by the way that it is driven. */
  speaks(language: LanguageId): boolean;
  stop: StopSignals;
}

export class Entry {
  readonly delivery: NotedDelivery;
  readonly ledger: Ledger;
  readonly stop: StopSignals;
  readonly log: Logger;
  readonly outcome: Outcome;
  readonly link: PrinterLink;
  readonly labels: Labels;
  readonly sender: Sender;
  /** What may be under way now. */
  readonly ahead: () => WindowLimits;
  /** At the printer; null: it has none, since it is canceled. */
  place: Place | null = null;
  readonly #context: EntryContext;
  readonly #loop: PrinterLoop;

  constructor(context: EntryContext, loop: PrinterLoop, delivery: NotedDelivery) {
    const { agentId, printerId, journal, timings, window, alone, stop } = context;
    const { job } = delivery;
    const { row } = loop;
    const { jobId, resume } = job;
    const total = labelCount(job);
    const from = Math.min(resume?.from ?? 0, total);
    const log = context.logger.child({ job: jobId, printer: printerId, tenant: job.tenantId });
    [this.delivery, this.#context, this.#loop] = [delivery, context, loop];
    [this.stop, this.log] = [stop, log];
    stop.recovers = () => this.place?.live === false && this.ledger.uncertain;
    const ledger = new Ledger({
      ...{ journal, row, queueId: queueIdOf(job), printerId, delivery: delivery.delivery },
      ...{ total, from, perPage: labelsPerPage(job) },
    });
    this.ledger = ledger;
    this.outcome = new Outcome(context, log, ledger, { jobId, round: resume?.round });
    ledger.onDisk = (written) => this.outcome.durable(written);
    this.link = context.device.link({ ...context, job, ledger, signals: stop, logger: log });
    const { documents } = this.link;
    this.ahead = () => row.window.size(window, job.format);
    const blind = () => this.place?.blind === true;
    this.labels = new Labels(context.pool, job, { documents, most: window, ahead: this.ahead, blind });
    this.sender = new Sender(this, { agentId, row, window, timings, alone });
  }

  /** @throws JournalError where no outcome may be told: a later delivery goes by what is on the disk */
  run(): Promise<DeliveryOutcome> {
    return this.outcome.tell(this.#run());
  }

  async #run(): Promise<DeliveryOutcome> {
    const { stop, outcome } = this;
    let goesBack = false;
    try {
      // A job that has not ended goes on in this very tick, since the job ahead may settle its labels at any moment.
      if (this.ledger.found?.final && (await outcome.repeat())) return 'done';
      await this.#print();
      // The next job goes on while this end gets to the disk: what that job writes is durable only after it.
      await outcome.end({ status: 'printed' }, () => this.place?.over.resolve());
      return 'done';
    } catch (error) {
      goesBack = true;
      if (error instanceof JournalError) throw error;
      if (stop.canceled && !stop.lost) await outcome.cancel(wrongIn(error, stop));
      else if (stop.interrupts(error)) return await this.#handBack();
      else await outcome.fail(error);
      goesBack = false;
      return 'done';
    } finally {
      stop.close();
      this.ledger.leave();
      this.labels.close();
      this.#loop.leave(this.place, goesBack);
    }
  }

  /** @throws JobFaultError, InterruptedError, RenderCrash, JournalError */
  async #print(): Promise<void> {
    const { ledger, link } = this;
    const { note } = this.delivery;
    restore(ledger, note, this.#context);
    if (note?.resumeAt === null && !ledger.uncertain) this.sender.notes.settled();
    this.mustTake();
    // Another kind of link had sent the labels, and this one cannot tell what became of them.
    if (ledger.underWay && link.documents !== (ledger.document !== undefined)) ledger.printedAtRest(null);
    const { delivery, total: labels, printed: from } = ledger;
    this.log.info({ delivery, labels, from }, 'job started');
    this.outcome.progress([]);
    // A job that was cut off is checked once it is known where it goes on.
    if (!ledger.uncertain) await this.labels.check(from, this.stop.leave);
    await this.#loop.print(this.place);
  }

  /** The printer may have changed its endpoint or agent since the job was queued. @throws JobFaultError */
  mustTake(): void {
    const { language } = this.delivery.job.format;
    if (!this.link.takes(language))
      throw faultFor('language-unsupported', because('language-gone', { language }));
  }

  /** Gives the job back to the queue, with a note where to go on, if that is certain. */
  async #handBack(): Promise<DeliveryOutcome> {
    const { lost } = this.stop;
    try {
      await this.outcome.handBack(lost);
      if (!lost)
        await Promise.race([this.sender.notes.end(), sleep(LAST_NOTE_MS, undefined, { ref: false })]);
    } catch (error) {
      this.log.warn({ err: error }, 'handed back without a note where the job goes on');
    }
    return 'hand-back';
  }
}

/** What went wrong with a canceled job, besides that it had to leave; null: nothing. */
function wrongIn(error: unknown, stop: StopSignals): unknown {
  return error instanceof JobFaultError || !stop.interrupts(error) ? error : null;
}

/**
 * Where a job that is delivered again stands, by what the agent's journal and the queue know. The ledger is brought there.
 * @param note left with it in the queue
 * @throws JobFaultError `outcome-unknown`
 */
export function restore(
  ledger: Ledger,
  note: Note | null,
  { agentId, journal }: { agentId: string; journal: Journal },
): void {
  const own = note === null || note.agentId === agentId;
  // The journal had written down what is printed before that was sent. So this one is older: a copy of the directory was restored.
  const older =
    Math.max(note?.resumeAt ?? 0, note?.underWay?.printed ?? 0) > (ledger.found?.entry.intent ?? 0);
  if (own && ledger.found !== null && !older) {
    ledger.restore(ledger.found.entry, 0, note?.underWay?.ahead);
    // The job may have been at another kind of device, whose counter began elsewhere.
    if (!ledger.uncertain) ledger.restore({ odometer: null, ...upTo(ledger.next) });
  } else if (note?.resumeAt === null) {
    const underWay: Partial<NotedLedger> = note.underWay ?? {};
    const { behind, ahead, apart = false, intent = ledger.total, ...left } = underWay;
    ledger.restore({ ...left, intent: Math.min(intent, ledger.total) }, behind);
    if (!own && left.base !== undefined) missed(ledger, journal, note.agentId, left.base);
    const counts = !own && ledger.odometer !== null;
    if (counts && ahead !== undefined && ledger.settleWith(ahead, apart)) return;
    if (counts && !journal.hasSentSince(ledger.lasting)) return;
    // Only the agent that had the job could tell which labels are out.
    throw own ? faultFor('outcome-unknown', because('journal-lost', {})) : takenOver(note.agentId);
  } else if (note !== null) {
    ledger.restore({ printed: note.resumeAt, ...upTo(note.resumeAt) });
    if (!own) missed(ledger, journal, note.agentId, note.resumeAt);
  }
}

/**
 * Another agent has had the job since this one, and has read the counter at rest: labels from `at` on were missing then. So were all
 * labels of the next job that this agent had sent behind them, and whatever is counted later is none of those.
 * @throws JobFaultError `outcome-unknown` where that cannot be: the queue has lost newer notes
 */
function missed(ledger: Ledger, journal: Journal, agent: string, at: number): void {
  const { entry, final } = ledger.found ?? {};
  if (entry === undefined || final !== null || at >= entry.intent) return;
  // The other agent's delivery is between this agent's last one and this one.
  if (at < entry.printed || ledger.delivery < entry.delivery + 2) {
    ledger.restore(entry);
    throw takenOver(agent);
  }
  journal.settleBehind(entry, { ...ledger.lasting, odometer: null }, ledger.perPage);
}

function takenOver(agent: string): JobFaultError {
  return faultFor('outcome-unknown', because('taken-over', { agent }));
}

/** Nothing from this label on is under way. */
function upTo(label: number) {
  return { base: label, intent: label, sent: label, document: undefined };
}
