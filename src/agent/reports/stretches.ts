/** Divides an agent's report on all its printers into reports of at most `REPORT_BYTES`: the service reads no longer ones. */
import type { PrinterDescription, UnreachedPrinter } from '../../contract/printer.ts';
import { type AgentStateReport, REPORT_BYTES } from '../../contract/report.ts';

/** Bytes of the printers in one report, and of the addresses where nothing was reached; the rest of a report is short. */
const PRINTERS = REPORT_BYTES / 2;
const UNREACHED = REPORT_BYTES / 4;

/** @returns one report, unless the printers need several; in the order of the stretches */
export function stretchesOf(report: AgentStateReport): AgentStateReport[] {
  const { printers, unreached, ...rest } = report;
  const first = unreached === undefined ? {} : { unreached: beginning(unreached, UNREACHED) };
  const [only, ...more] = parted(printers);
  if (more.length === 0) return [{ ...rest, ...first, printers: only ?? [] }];
  const parts = parted(printers.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
  return parts.map((part, at): AgentStateReport => {
    const after = parts[at - 1]?.at(-1)?.id;
    const upTo = at === parts.length - 1 ? undefined : part.at(-1)?.id;
    const stretch = { ...(after !== undefined && { after }), ...(upTo !== undefined && { upTo }) };
    return { ...rest, ...(at === 0 && first), printers: part, stretch };
  });
}

function parted(printers: readonly PrinterDescription[]): PrinterDescription[][] {
  const parts: PrinterDescription[][] = [];
  let room = 0;
  for (const printer of printers) {
    // Nobody chooses from more formats than fit here. The first format is the printer's default.
    const [format, ...formats] = printer.formats;
    const known = format === undefined ? [] : [format, ...beginning(formats, PRINTERS / 2)];
    const told = known.length === printer.formats.length ? printer : { ...printer, formats: known };
    const bytes = bytesOf(told);
    if (bytes > room || parts.length === 0) {
      parts.push([]);
      room = PRINTERS;
    }
    room -= bytes;
    parts.at(-1)?.push(told);
  }
  return parts;
}

/** The first of these that have room together. */
function beginning<T extends PrinterDescription['formats'][number] | UnreachedPrinter>(
  all: readonly T[],
  bytes: number,
): T[] {
  let room = bytes;
  return all.filter((one) => {
    room -= room > 0 ? bytesOf(one) : 0;
    return room > 0;
  });
}

function bytesOf(value: object): number {
  return Buffer.byteLength(JSON.stringify(value)) + 1;
}
