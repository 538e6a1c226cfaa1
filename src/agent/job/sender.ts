/**
 * Sends a job's labels to the printer, after it has written them to the journal and noted them in the queue.
 *
 * What is on record, and in which order it is written:
 *   J0  journal: the job's start (only where there is no odometer, to make the start itself certain)
 *   N   queue:   a note that this agent may have sent some of the job, up to which label, and what the
 *                printer had counted before; again each time before labels go out that the note does not
 *                cover (`notes.ts`)
 *   J1  journal: intent, the label up to which bytes are about to be sent; with the odometer before the first
 *                label, and for a document the name that the printer's job will get. J1 is written before N
 *                is asked for, and gets to the disk meanwhile. Where N takes long, J1 is taken back in the
 *                journal until N is there. Where the two have taken long, the odometer is read again before
 *                B: if it shows the same, J1 holds, however slow disk and queue were; if not, J1 is taken
 *                back, and written again
 *   B   bytes of those labels; then J1, B, J1, B, …; each J1 also records what is confirmed by then. A document:
 *       C   create:  the printer makes a job of that name, without a document: it prints nothing
 *       J1' journal: the ID of the printer's job
 *       S   send:    the document; the printer's job comes to its end before the next J1
 *   J2  journal: the outcome, and the duty to report it
 *   R   queue:   the report; then journal: published
 *   What follows a journal entry waits for the disk; the agent's own thread does not (`../journal-file.ts`).
 *   D   queue:   done
 *
 * Crash points (of the agent, the machine or the network between them), and what the next delivery does:
 *   before N                  no note: nobody has sent anything. Starts from the beginning.
 *   between J0 and N, N and J1  the journal says that nothing was about to be sent. Starts from there.
 *   between J1 and B          the printer at rest has counted nothing more. Goes on where it was.
 *   inside B                  the kernel may still deliver what it has, half a label may have arrived: waits
 *                             until the printer rests, and goes on at the first label it has not counted.
 *   after B, before J2        as inside B; when all are counted the job is printed.
 *   between C and J1'         a job of that name that waits in the printer for its document is looked for by the name
 *                             and canceled, since some printers wait for it before they take another.
 *   after J1'                 looks the printer's job up by ID, and takes it for ours only if it has our
 *                             name, since printers count from 1 again. If its document is incomplete, cancels
 *                             it, and sends again when it ended before any label. Otherwise the state of the
 *                             printer's job tells.
 *   the printer has forgotten its job  where its counter is known to count labels, as inside B; otherwise held.
 *   between J2 and R          the journal has the outcome and reports it at start.
 *   between R and D           finished before: reports again (the service ignores what it knows), done.
 *   the journal is lost       a note of this agent and no entry: held. The same after a power cut that N
 *                             survives and J1 does not.
 *   another agent has it now  goes by the first agent's note: after a clean hand-back it names the label to
 *                             go on with. Otherwise, as inside B by the odometer in the note; without an
 *                             odometer the job is held, and at most the labels that the note covers are
 *                             uncertain.
 *   the queue loses the note  (a Redis without fsync, power loss) the journal still knows; only another agent
 *                             would not.
 *   the printer loses power   its buffer is lost, its counter is not: as inside B.
 *   the counter was moved by somebody else meanwhile, or has gone back: held.
 *   another job behind it     (`loop.ts`)  the second job's N may come before this job's J2. Its J1
 *                             comes when it joins the row, with the counter as it will be when this job's
 *                             labels are out. Labels counted are this job's first, and the second job's
 *                             beyond those. Another agent counts in the same way, if this one knew that it
 *                             wants the printer. Otherwise it does not know of the second job, and holds
 *                             this one where more labels were counted than it has.
 *   no odometer               any loss with labels under way: held.
 *   no answers at all         everything is sent, then held; or printed, where the printer's configuration says
 *                             that what its connection took counts (`confirmation: "transport"`).
 */
import { randomBytes } from 'node:crypto';
import { orAborted } from '../../../drivers/transports/pauses.ts';
import type { Logger } from '../../log.ts';
import { isWithin } from '../../queue/index.ts';
import type { Chunk } from '../../rendering/render-protocol.ts';
import type { TimingConfig } from '../config.ts';
import { Backoff } from '../pause.ts';
import type { PrinterLink, RefusalReason } from '../printer/link.ts';
import type { Labels } from './labels.ts';
import type { Ledger } from './ledger.ts';
import type { NotedDelivery } from './note.ts';
import { Notes } from './notes.ts';
import type { Outcome } from './outcome.ts';
import { pagesOf } from './page-count.ts';
import type { Row } from './row.ts';
import { InterruptedError, type StopSignals } from './stop-signals.ts';
import type { WindowLimits } from './window.ts';

/** A job in hand (`entry.ts`), as the loop has it. */
export interface LoopEntry {
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
  /** @throws JobFaultError where the printer does not take its language any more */
  mustTake(): void;
}

interface SenderOptions {
  agentId: string;
  row: Row;
  /** The most that may be under way. */
  window: WindowLimits;
  timings: TimingConfig;
  alone(): boolean;
}

/** Longest wait for the queue to take a note, while the printer prints, before the printer is asked again, ms. */
export const NOTE_MS = 200;
const NOT_NOTED = 'the queue does not take the note how far the job may have been sent';
/** How old a reading of the counter may be when the first label after it goes out, ms. */
const BASE_MS = 500;

export class Sender {
  /** This delivery's note in the queue. */
  readonly notes: Notes;
  /** When the printer had told its counter, ms. Not when it was asked: one that answers slowly must be able to print too. */
  readAt = 0;
  readonly #job: LoopEntry;
  readonly #options: SenderOptions;

  constructor(job: LoopEntry, options: SenderOptions) {
    const { delivery, ledger, link, log } = job;
    const { agentId, window, timings, alone } = options;
    [this.#job, this.#options] = [job, options];
    this.notes = new Notes({
      ...{ agentId, delivery, ledger, window: window.labels, alone },
      // What a printer counts while it prints documents may not be labels.
      standing: () => ledger.standing(!link.documents),
      retry: { min: timings.reconnectMin, max: timings.reconnectMax },
      onFailure: (error) => log.warn({ err: error }, NOT_NOTED),
    });
  }

  /**
   * The chunks that are made and fit the window. Waits for the first one where none is made yet.
   * @param blind the printer cannot say what becomes of them: the window only bounds what one journal entry covers
   */
  async collect(blind: boolean): Promise<Chunk[]> {
    const { row, window } = this.#options;
    const { ledger, labels, link } = this.#job;
    const ahead = this.#job.ahead();
    const { documents } = link;
    const burst: Chunk[] = [];
    // A document stays the next one until the printer is done with it.
    if (documents) labels.seek(ledger.base);
    while (labels.position < ledger.total) {
      if (burst.length > 0 && (documents || !labels.available)) break;
      const chunk = await this.#made();
      if (chunk === null) return [];
      const upTo = chunk.first + chunk.count;
      const full = blind
        ? burst.length > 0 && upTo - ledger.sent > window.labels
        : !documents && !row.fits(chunk, burst, ahead);
      // With nothing under way, a chunk beyond the note is taken too: it is sent as soon as it is noted.
      const waits = burst.length > 0 || (ledger.underWay && !blind);
      if (full || (waits && this.notes.stored && upTo > this.notes.allowed)) break;
      if (!documents) labels.seek(upTo);
      burst.push(chunk);
    }
    return burst;
  }

  /** The next chunk; null: the job has to go, and waits for none to be made. @throws JobFaultError, RenderCrash */
  async #made(): Promise<Chunk | null> {
    const { labels, stop } = this.#job;
    const made = labels.peek(stop);
    await orAborted(made, stop.boundary).catch(() => undefined);
    return stop.boundary.aborted ? null : await made;
  }

  /**
   * Writes into the journal that these labels are about to be sent. Stores a note too, unless the one in the queue covers them and
   * does not mislead. If the note takes longer than `BASE_MS`, the journal takes this back until the note is stored: labels that
   * come out meanwhile are not this job's.
   * @param late given: such a late note is not waited for. Aborted: storing it is not tried again
   * @returns false: it was late, and nothing is written down
   * @throws JournalError, InterruptedError
   */
  async intend(burst: readonly Chunk[], late?: AbortSignal): Promise<boolean> {
    const upTo = Math.max(...burst.map(({ first, count }) => first + count));
    const { ledger, link, delivery } = this.#job;
    const { jobId } = delivery.job;
    const name = link.documents
      ? `${jobId} ${ledger.base + 1}-${upTo} ${randomBytes(4).toString('hex')}`
      : undefined;
    if (!this.notes.stored && ledger.odometer === null) {
      ledger.keep();
      await ledger.committed();
      await this.#note(upTo);
    }
    ledger.intend(upTo, name);
    const written = ledger.committed();
    if (this.#covers(upTo)) {
      await written;
      return true;
    }
    // The bytes wait for journal and note; these two do not wait for each other.
    const noted = this.#note(upTo, late);
    const [, inTime] = await Promise.all([written, isWithin(noted, BASE_MS)]);
    if (inTime) return true;
    this.takeBack();
    if (late !== undefined) return false;
    await noted;
    ledger.intend(upTo, name);
    await ledger.committed();
    return true;
  }

  /** Takes what is written down back: nothing of it has been sent. */
  takeBack(): void {
    this.#job.ledger.withdraw();
    this.#job.ledger.keep();
  }

  /**
   * Journal, note, bytes, in the order given above; stops at a label boundary when it has to.
   * @param readAgain waits until the printer is ready, and reads its counter again
   * @throws TransportError, JobFaultError, InterruptedError
   */
  async send(burst: Chunk[], readAgain: () => Promise<void>): Promise<RefusalReason | null> {
    try {
      await this.intend(burst);
      while (!this.#baseIsFresh() && !(await this.#baseHolds())) {
        // Nothing has been sent: what the printer has counted since is not this job's.
        this.takeBack();
        await readAgain();
        await this.intend(burst);
      }
    } catch (error) {
      // No byte of these labels has gone out, and the job may now wait for long: the journal must know.
      this.takeBack();
      throw error;
    }
    return await this.write(burst);
  }

  /** The bytes of what is on record. @throws TransportError, JobFaultError */
  async write(burst: readonly Chunk[]): Promise<RefusalReason | null> {
    const { ledger, link, stop, delivery } = this.#job;
    let begun = false;
    try {
      await link.begin();
      for (const chunk of burst) {
        if (stop.boundary.aborted) {
          ledger.withdraw();
          return null;
        }
        ledger.sends(chunk);
        delivery.sends?.();
        begun = true;
        const refusal = await link.send(chunk);
        if (refusal === null) continue;
        ledger.withdraw();
        return refusal;
      }
      return null;
    } catch (error) {
      if (!begun) this.takeBack();
      throw error;
    }
  }

  /** The note in the queue allows the labels before `upTo`, and does not mislead whoever goes by it. */
  #covers(upTo: number): boolean {
    const { sent, base } = this.#job.ledger;
    const { stored, allowed, misleads, apart } = this.notes;
    // Once labels are under way, `follow` stores another one beside them.
    return stored && upTo <= allowed && (sent > base || !(misleads || apart));
  }

  /** Whether the counter that the job goes by was read just now, or labels that were sent since are under way. */
  #baseIsFresh(): boolean {
    const { odometer, sent, next } = this.#job.ledger;
    return odometer === null || sent > next || performance.now() - this.readAt <= BASE_MS;
  }

  /**
   * Whether the printer, asked once more, is ready and has counted nothing since: then what is written down and
   * noted holds, and the time that this took does not make the counter older. @throws TransportError
   */
  async #baseHolds(): Promise<boolean> {
    const { link, ledger } = this.#job;
    const { ready, status, saidAt } = await link.ready(true);
    const { odometer, sent, base, perPage } = ledger;
    if (!ready || status?.odometer !== (odometer ?? 0) + pagesOf(sent - base, perPage)) return false;
    this.readAt = saidAt;
    return true;
  }

  /**
   * Resolves once the queue has a note that covers the labels before `upTo`. Call it only while nothing is under way.
   * @param late aborted: no further try; then nobody knows whether the note is stored
   * @throws InterruptedError
   */
  async #note(upTo: number, late?: AbortSignal): Promise<void> {
    const { timings } = this.#options;
    const { ledger, stop, log } = this.#job;
    const backoff = new Backoff(timings.reconnectMin, timings.reconnectMax);
    // The note may allow more labels than it has to, since another agent has come.
    await this.notes.follow(ledger.base);
    while (!this.#covers(upTo) && late?.aborted !== true) {
      const { leave } = stop;
      try {
        await orAborted(this.notes.allow(upTo), leave);
      } catch (error) {
        if (stop.leave.aborted) throw new InterruptedError();
        log.warn({ err: error }, NOT_NOTED);
        await stop.wait(backoff.next());
      }
    }
  }
}
