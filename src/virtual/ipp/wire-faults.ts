/** Faults between a client and a virtual IPP printer that a test asks for: answers held back, or cut off. */
import type { Socket } from 'node:net';
import type { OperationName } from '../../../drivers/ipp/names.ts';

export class WireFaults {
  readonly #held: (operation: OperationName | undefined) => void;
  #cut: { bytes: number; operation: OperationName | undefined } | undefined;
  #holds: readonly OperationName[] | undefined;
  #release = Promise.withResolvers<void>();

  readonly #silent: () => boolean;

  /** @param held called for each answer that is held back @param silent whether all answers are held back */
  constructor(held: (operation: OperationName | undefined) => void, silent: () => boolean) {
    this.#held = held;
    this.#silent = silent;
  }

  /** Holds back the answers to these operations, or to all if none is named. */
  hold(operations: readonly OperationName[]): void {
    this.#holds = operations;
  }

  release(): void {
    this.#holds = undefined;
    this.wake();
  }

  /** Lets the answers that are held back check whether they still have to be. */
  wake(): void {
    this.#release.resolve();
    this.#release = Promise.withResolvers();
  }

  cutReply(bytes: number, operation: OperationName | undefined): void {
    this.#cut = { bytes, operation };
  }

  /** Waits until an answer may be sent; returns after how many bytes it is to be cut, or undefined. */
  async beforeReply(operation: OperationName | undefined, socket: Socket): Promise<number | undefined> {
    let told = false;
    while (this.#holdsBack(operation) && !socket.destroyed) {
      if (!told) this.#held(operation);
      told = true;
      await this.#release.promise;
    }
    const cut = this.#cut;
    if (!cut || (cut.operation !== undefined && cut.operation !== operation)) return undefined;
    this.#cut = undefined;
    return cut.bytes;
  }

  #holdsBack(operation: OperationName | undefined): boolean {
    if (this.#silent()) return true;
    if (!this.#holds) return false;
    return this.#holds.length === 0 || (operation !== undefined && this.#holds.includes(operation));
  }
}
