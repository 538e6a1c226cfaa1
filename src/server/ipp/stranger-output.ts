/** Answers IPP's operations for callers without a key, and where a key has no printer: a printer may be looked at, and no more. */
import type { IppPrinterView } from '../../ipp/attributes.ts';
import type { IppOutput } from '../../ipp/operations.ts';
import { IppRefusal } from '../../ipp/refusal.ts';
import type { DoorJob } from './door-job.ts';

export class StrangerOutput implements IppOutput<DoorJob> {
  readonly #view: ((printerUri: string) => Promise<IppPrinterView>) | undefined;
  readonly jobOperations = {};
  readonly printerOperations = {};
  readonly admit = nothingHere;
  readonly print = nothingHere;
  readonly create = nothingHere;
  readonly send = nothingHere;
  readonly find = nothingHere;
  readonly list = nothingHere;
  readonly cancel = nothingHere;

  /** @param view undefined: there is no printer at the address */
  constructor(view: ((printerUri: string) => Promise<IppPrinterView>) | undefined) {
    this.#view = view;
  }

  permit(): void {
    if (this.#view === undefined) nothingHere();
  }

  async view(printerUri: string): Promise<IppPrinterView> {
    if (this.#view === undefined) nothingHere();
    return await this.#view(printerUri);
  }

  accepts(): boolean {
    return false;
  }
}

function nothingHere(): never {
  throw new IppRefusal('client-error-not-found', 'there is no printer at this address for this key');
}
