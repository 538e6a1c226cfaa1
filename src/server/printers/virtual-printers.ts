/**
 * The virtual printers that run in this very process, with the service and its own agent. A printer is one of
 * them if that agent has it and its address is theirs; nothing else that printers or agents say counts.
 */

import type { VirtualPrinterView } from '../../contract/printer-actions.ts';
import type { PrinterView } from '../../contract/printer-view.ts';
import { type Pool, transaction } from '../store/pool.ts';

export interface VirtualPort {
  readonly uri: string;
  state(): VirtualPrinterView;
  /** @param words as `platen virtual fault` takes them */
  ask(words: readonly string[]): Promise<void>;
  /** The picture (PNG) of a label, by its number; undefined: it does not exist, or is not kept any more. */
  picture(number: number): Promise<Uint8Array | undefined>;
}

export interface OwnVirtuals {
  /** The agent of this process; null: there is none. */
  readonly agentId: string | null;
  readonly printers: readonly VirtualPort[];
}

/** The virtual printer that this printer is; undefined: it is none of this process. */
export function virtualOf(printer: PrinterView, own: OwnVirtuals | undefined): VirtualPort | undefined {
  if (own === undefined || !printer.agents.some(({ id }) => id === own.agentId)) return undefined;
  return own.printers.find(({ uri }) => uri === printer.uri);
}

/** Lets all instances know them, for test keys: these are the virtual printers of this process's agent now, and no others. */
export async function noteVirtuals(
  pool: Pool,
  own: { agentId: string | null; printers: readonly { uri: string }[] } | undefined,
): Promise<void> {
  if (own === undefined || own.agentId === null) return;
  const { agentId, printers } = own;
  await transaction(pool, async (client) => {
    await client.query('DELETE FROM platen.virtual_printers WHERE agent_id = $1', [agentId]);
    await client.query(
      'INSERT INTO platen.virtual_printers (agent_id, uri) SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING',
      [agentId, printers.map(({ uri }) => uri)],
    );
  });
}
