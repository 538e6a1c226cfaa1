/** The job behind: follows another job while the printer still prints that one's labels (`succession.ts`). */
import { TransportError } from '../../../drivers/connection.ts';
import { JobFaultError } from '../../contract/fault.ts';
import type { Chunk } from '../../rendering/render-protocol.ts';
import type { Labels } from './labels.ts';
import type { Ledger } from './ledger.ts';
import type { Outcome } from './outcome.ts';
import type { Sender } from './sender.ts';
import { Interrupted, type Stop } from './stop.ts';
import type { Behind, Succession } from './succession.ts';

interface FollowingParts {
  ledger: Ledger;
  sender: Sender;
  labels: Labels;
  stop: Stop;
  held(): boolean;
}

export class Following implements Behind {
  readonly #succession: Succession;
  readonly #parts: FollowingParts;
  #preparing: Promise<boolean> = Promise.resolve(false);
  #first: Chunk[] = [];
  /** Some of its labels may have been sent. */
  #driven = false;

  constructor(succession: Succession, parts: FollowingParts) {
    this.#succession = succession;
    this.#parts = parts;
  }

  /**
   * Waits until this job drives the printer, or is alone there.
   * @returns its first labels, written down and noted; null: it is alone, and nothing is prepared
   * @throws Interrupted, JobFaultError, JournalError, RenderCrash
   */
  async turn(): Promise<Chunk[] | null> {
    const { ledger, sender, labels, stop, held } = this.#parts;
    for (;;) {
      // The connection may have gone before what was prepared could be sent.
      sender.unprepare();
      // The job has not begun: it goes back to its queue, and waits there with the others.
      const waits = !this.#driven && this.#succession.over && (held() || this.#succession.goesBack);
      if (stop.leave.aborted || waits) throw new Interrupted();
      if (this.#succession.over) return null;
      if (!ledger.uncertain && ledger.base < ledger.total) {
        labels.renew(ledger.base);
        await labels.peek(stop);
      }
      await this.#succession.ready(this, stop.leave);
      if (this.#succession.driven) {
        this.#driven = true;
        return this.#first;
      }
      await this.#preparing;
      ledger.leave();
    }
  }

  async join(): Promise<boolean> {
    this.#preparing = this.#prepare();
    // `turn` awaits the same promise, and throws what went wrong.
    return await this.#preparing.catch(() => false);
  }

  async #prepare(): Promise<boolean> {
    const { ledger, sender, labels } = this.#parts;
    // Labels that it had sent may have been settled meanwhile, on another connection: perhaps all that there are.
    if (ledger.uncertain || ledger.base === ledger.total) return false;
    labels.renew(ledger.base);
    this.#first = await sender.collect(false);
    if (this.#first.length === 0 || !this.#succession.joins) return false;
    ledger.join();
    await sender.prepare(this.#first);
    return true;
  }

  get pages(): number {
    const { ledger } = this.#parts;
    return ledger.uncertain ? ledger.pages : 0;
  }

  settle(odometer: number): void {
    const { ledger } = this.#parts;
    if (ledger.uncertain) ledger.settleBehind(odometer);
  }

  /** The printer has said how far it is: tells the job ahead, while this one drives. */
  told(stuck: boolean, reasons: Outcome['reasons']): void {
    if (this.#succession.driven) this.#succession.say({ kind: 'told', stuck, reasons });
  }

  /** Tells the job ahead of a fault that concerns the labels of both jobs. */
  fails(error: unknown): void {
    if (this.#succession.driven && error instanceof JobFaultError)
      this.#succession.say({ kind: 'fault', error });
  }

  /** Lets the job ahead drive again. @returns false where it does, has ended, or is done with the printer */
  givesBack(error: Error | null): boolean {
    if (!this.#succession.driven) return false;
    this.#parts.ledger.leave();
    this.#succession.say({ kind: 'back', error });
    return true;
  }

  /** The job leaves, perhaps before the job ahead. @param clean nothing unfinished is on the connection */
  leaves(clean: boolean): void {
    const unclear = new TransportError('connection-lost', 'the job behind has left it');
    this.givesBack(clean ? null : unclear);
    this.#succession.leave();
  }

  /** The job ahead has the printer, and this job must not use it. */
  get waits(): boolean {
    return !this.#succession.over && !this.#succession.handedOver;
  }
}
