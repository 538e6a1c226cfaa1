/** What goes wrong between a client and a virtual IPP printer, when a test asks for it. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { OperationName } from '../../../drivers/ipp/names.ts';

export class WireFaults {
  readonly #held: (operation: OperationName | undefined) => void;
  #dropAfter: number | undefined;
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

  dropAfter(bytes: number): void {
    this.#dropAfter = bytes;
  }

  /** As much of what was read as is to be taken; cuts the connection where it is to be cut. */
  received(bytes: Buffer, request: IncomingMessage): Buffer {
    if (this.#dropAfter === undefined) return bytes;
    this.#dropAfter -= bytes.length;
    if (this.#dropAfter > 0) return bytes;
    const kept = bytes.subarray(0, bytes.length + this.#dropAfter);
    this.#dropAfter = undefined;
    request.socket.destroy();
    return kept;
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
