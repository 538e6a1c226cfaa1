/** The printers of an agent that has joined: those that it has brought, and which of them it serves. */
import type { BroughtState } from '../../contract/agent-view.ts';
import type { PrinterDescription } from '../../contract/printer.ts';
import { type BroughtPrinters, MOST_BROUGHT } from './brought-printers.ts';

/**
 * ms in which an agent that has joined finds and tells its printers. After the database was restored it may tell how a job has
 * ended before that.
 */
const FINDS = 5_000;

interface OwnPrintersOptions {
  agentId: string;
  printers: Pick<BroughtPrinters, 'of' | 'bring'>;
  /** As the database has them. */
  brought: ReadonlyMap<string, BroughtState>;
  /** How often people had decided about them before `brought` was read. */
  decided: number;
  /** The agent has brought printers that were not known. */
  onBrought: () => void;
}

export class OwnPrinters {
  readonly #options: OwnPrintersOptions;
  #brought: ReadonlyMap<string, BroughtState>;
  #decided: number;
  /** They are brought one report after the other: each takes a connection to the database. */
  #bringing: Promise<void> = Promise.resolve();
  /** The agent has told its printers, or had the time for it. */
  readonly #found = Promise.withResolvers<void>();

  constructor(options: OwnPrintersOptions) {
    this.#options = options;
    [this.#brought, this.#decided] = [options.brought, options.decided];
    setTimeout(() => this.#found.resolve(), FINDS).unref();
  }

  serves(printerId: string): boolean {
    return this.#brought.get(printerId) === 'approved';
  }

  /** Resolves when the agent has brought this one, or has told its printers without it. */
  async found(printerId: string): Promise<void> {
    if (!this.#brought.has(printerId)) await this.#found.promise;
  }

  /** The agent has told these. */
  async told(printers: readonly Pick<PrinterDescription, 'id' | 'name'>[]): Promise<void> {
    this.#bringing = this.#bringing.catch(() => undefined).then(() => this.#bring(printers));
    await this.#bringing;
    this.#found.resolve();
  }

  async #bring(printers: readonly Pick<PrinterDescription, 'id' | 'name'>[]): Promise<void> {
    if (this.#brought.size >= MOST_BROUGHT || printers.every(({ id }) => this.#brought.has(id))) return;
    this.#brought = await this.#options.printers.bring(this.#options.agentId, printers);
    this.#options.onBrought();
  }

  /** @param times so often people have decided about them by now */
  async decided(times: number): Promise<void> {
    if (times === this.#decided) return;
    this.#brought = await this.#options.printers.of(this.#options.agentId);
    this.#decided = times;
  }
}
