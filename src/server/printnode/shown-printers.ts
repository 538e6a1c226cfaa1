/** Printers, and the agents that have them, as PrintNode shows printers and the computers that they are at. */
import type { PrinterFormat } from '../../contract/format.ts';
import { LIMITS } from '../../contract/limits.ts';
import { numbersOf } from '../numbers.ts';
import { type HoldersOf, type ListedPrinter, listPrinters } from '../printers/printers.ts';
import type { Pool } from '../store/pool.ts';
import type { Whose } from '../tenants/whose.ts';

type ShownComputer = {
  id: number;
  name: string;
  inet: null;
  inet6: null;
  hostname: string;
  version: null;
  jre: null;
  createTimestamp: string;
  state: 'connected' | 'disconnected';
};
export type ShownPrinter = {
  id: number;
  computer: ShownComputer | null;
  name: string;
  description: string;
  capabilities: ReturnType<typeof capabilitiesOf>;
  default: false;
  createTimestamp: string;
  state: 'online' | 'offline';
};

/** No agent has an ID of one character. */
const SHARED = { id: '*', name: 'Shared' };

/**
 * One caller's printers, by their IDs. Those that people have hidden are not offered; jobs are there all the same.
 *
 * As `/v2/printers`, it says nothing of the agents that all tenants share: their printers are at one computer.
 */
export async function shownPrinters(
  pool: Pool,
  { tenantId, test }: Whose,
  holdersOf: HoldersOf,
): Promise<Map<string, { shown: ShownPrinter; hidden: boolean }>> {
  const listed = (await listPrinters(pool, { tenant: tenantId }, holdersOf)).filter(
    (one) => !test || one.forTests,
  );
  const ids = listed.map(({ id }) => id);
  const shared = listed.filter(({ tenant }) => tenant === null).flatMap(({ agents }) => agents);
  const ofShared = { ...SHARED, online: shared.some(({ online }) => online) };
  const computerOf = ({ tenant, agents }: ListedPrinter) =>
    // The one that serves the printer, or would.
    tenant === null ? ofShared : (agents.find(({ serves }) => serves) ?? agents[0]);
  const numbers = await numbersOf(pool, tenantId, 'printer', ids);
  const computers = await numbersOf(
    pool,
    tenantId,
    'computer',
    listed.flatMap((printer) => computerOf(printer)?.id ?? []),
  );
  return new Map(
    listed.flatMap((printer) => {
      const known = numbers.get(printer.id);
      if (known === undefined) return [];
      const agent = computerOf(printer);
      const place = agent && computers.get(agent.id);
      const computer: ShownComputer | null =
        agent === undefined || place === undefined
          ? null
          : {
              ...{ id: place.number, name: agent.name, inet: null, inet6: null, hostname: agent.name },
              ...{ version: null, jre: null, createTimestamp: place.since },
              state: agent.online ? 'connected' : 'disconnected',
            };
      const shown: ShownPrinter = {
        ...{ id: known.number, computer, name: printer.name, description: printer.model ?? printer.name },
        ...{ capabilities: capabilitiesOf(printer.formats), default: false },
        createTimestamp: known.since,
        state: printer.status === 'offline' ? 'offline' : 'online',
      };
      return [[printer.id, { shown, hidden: printer.hidden }]];
    }),
  );
}

/** A paper is a format, by its name, or by its ID where several have the name; tenths of a mm. */
function capabilitiesOf(formats: readonly PrinterFormat[]) {
  const paperOf = ({ id, name }: PrinterFormat) =>
    formats.some((one) => one.name === name && one.id !== id) ? id : name;
  return {
    ...{ bins: [], collate: false, color: false, copies: LIMITS.labels, duplex: false, extent: null },
    ...{ medias: [], nup: [], printrate: null, supports_custom_paper_size: false },
    dpis: [...new Set(formats.map(({ dpi }) => `${dpi}x${dpi}`))],
    papers: Object.fromEntries(
      formats.map((format) => [
        paperOf(format),
        [Math.round(format.width * 10), Math.round(format.height * 10)],
      ]),
    ),
  };
}
