/**
 * The virtual printers that run in this very process, with the service and its own agent. That a printer is one of them
 * is known by that agent and its address in this process, and by nothing that a printer or another agent says.
 */

import type { VirtualPrinterView } from '../../contract/printer-actions.ts';
import type { PrinterView } from '../../contract/printer-view.ts';

export interface VirtualPort {
  readonly uri: string;
  state(): VirtualPrinterView;
  /** @param words as `platen virtual fault` takes them */
  ask(words: readonly string[]): Promise<void>;
  /** Of a label by its number, a PNG; undefined: it is not there, or not any more. */
  picture(number: number): Promise<Uint8Array | undefined>;
}

export interface OwnVirtuals {
  /** The agent of this process; null: there is none. */
  readonly agentId: string | null;
  readonly printers: readonly VirtualPort[];
}

/** The one that this printer is. */
export function virtualOf(printer: PrinterView, own: OwnVirtuals | undefined): VirtualPort | undefined {
  if (own === undefined || !printer.agents.some(({ id }) => id === own.agentId)) return undefined;
  return own.printers.find(({ uri }) => uri === printer.uri);
}
