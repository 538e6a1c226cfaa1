/** An agent's own way to a printer that others reach too; notes when it sends labels, in one list for all. */
import type { Socket } from 'node:net';
import { BreakableRoad } from './breakable-road.ts';

/** Whose label bytes came, one entry for each time that the sender changed. */
export type Senders = string[];

export class Tap extends BreakableRoad {
  readonly #name: string;
  readonly #senders: Senders;

  constructor(name: string, printerPort: number, senders: Senders) {
    super('127.0.0.1', printerPort);
    this.#name = name;
    this.#senders = senders;
  }

  get uri(): string {
    return `socket://127.0.0.1:${this.port}`;
  }

  /** Connections break, and new ones are refused. */
  async stop(): Promise<void> {
    await this.close();
  }

  protected override begun(agent: Socket): void {
    super.begun(agent);
    agent.on('data', (bytes: Buffer) => {
      // Status and identity are asked in commands that stand outside of labels.
      if (bytes.includes('^FD') && this.#senders.at(-1) !== this.#name) this.#senders.push(this.#name);
    });
  }
}
