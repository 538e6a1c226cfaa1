/** What goes wrong between a client and a virtual IPP printer, when a test asks for it. */
import type { Socket } from 'node:net';
import type { OperationName } from '../../../drivers/ipp/names.ts';

export class WireFaults {
  readonly #held: (operation: OperationName | undefined) => void;
  #cut: { bytes: number; operation: OperationName | undefined } | undefined;
  #holds: readonly OperationName[] | undefined;
  #release = Promise.withResolvers<void>();

  readonly #silent: () => boolean;

  /** @param held told of each answer that is held back @param silent whether all are */
  constructor(held: (operation: OperationName | undefined) => void, silent: () => boolean) {
    this.#held = held;
    this.#silent = silent;
  }

  /** Holds back the answers to these operations; none: to all. */
  hold(operations: readonly OperationName[]): void {
    this.#holds = operations;
  }

  release(): void {
    this.#holds = undefined;
    this.wake();
  }

  /** What is held back looks whether it still is. */
  wake(): void {
    this.#release.resolve();
    this.#release = Promise.withResolvers();
  }

  cutReply(bytes: number, operation: OperationName | undefined): void {
    this.#cut = { bytes, operation };
  }

  /** Waits until an answer may be sent; gives after how many bytes it breaks off, or undefined. */
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
