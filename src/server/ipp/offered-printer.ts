/** The printers that IPP offers: by which addresses they are found, and how each describes itself. */
import { validate } from 'uuid';
import { z } from 'zod';
import type { PrinterFormat } from '../../contract/format.ts';
import { laneOf } from '../../contract/lane.ts';
import { standsStill } from '../../contract/printer-view.ts';
import type { IppAddress, IppPrinterView } from '../../ipp/attributes.ts';
import { ANY_FORMAT } from '../../ipp/document.ts';
import { rollsOf } from '../../ipp/media.ts';
import { MOST_NUMBER, numbersOf, printerOf } from '../numbers.ts';
import { askedPrinters, type HoldersOf, type ListedPrinter, listPrinters } from '../printers/printers.ts';
import { onlyRow, type Pool, type Queryable, rowOf } from '../store/pool.ts';
import type { Whose } from '../tenants/whose.ts';
import { DOCUMENT_WAIT } from './door-jobs.ts';

/** What is printed: `ANY_FORMAT` is told by its bytes. */
export const FORMATS = [
  'application/pdf',
  'image/png',
  'image/jpeg',
  'application/vnd.zebra-zpl',
  ANY_FORMAT,
];
export const UNDER = '/ipp/print';

const known = z.object({
  tenant_id: z.string(),
  printer_id: z.string(),
  uuid: z.string(),
  created_at: z.date(),
});
type Known = { uuid: string; since: Date };

/** `formats` are those of `rolls`, each the first of its size. */
export type OfferedPrinter = { printer: ListedPrinter; formats: readonly PrinterFormat[] } & Known;

export function isUuid(name: string): boolean {
  return validate(name);
}

/** Whose printer an address with a UUID names. */
export async function ownerOf(
  db: Queryable,
  uuid: string,
): Promise<{ tenantId: string; printerId: string } | undefined> {
  const found = await rowOf(db, known, 'SELECT * FROM platen.ipp_printers WHERE uuid = $1', [uuid]);
  return found && { tenantId: found.tenant_id, printerId: found.printer_id };
}

/**
 * The printer that an address names: by its UUID, its number, its ID, or its name where no other has that. Undefined: this
 * caller prints on none that it names.
 */
export async function offeredPrinter(
  pool: Pool,
  whose: Whose,
  name: string,
  holdersOf: HoldersOf,
): Promise<OfferedPrinter | undefined> {
  const { tenantId, test } = whose;
  const asked = await askedFor(pool, tenantId, name);
  if (asked === undefined) return undefined;
  const { byId, named } = await askedPrinters(pool, tenantId, asked);
  const found = byId ?? (named.length === 1 ? named[0] : undefined);
  if (found === undefined) return undefined;
  const lane = laneOf({ scope: found.scope, printerId: found.id });
  const [printer] = await listPrinters(pool, tenantId, holdersOf, { lane });
  if (printer === undefined || printer.hidden || printer.agents.length === 0 || (test && !printer.forTests))
    return undefined;
  return { printer, formats: formatsOf(printer), ...(await knownAs(pool, tenantId, printer.id)) };
}

async function askedFor(
  pool: Pool,
  tenantId: string,
  name: string,
): Promise<{ id: string | null; name: string | null } | undefined> {
  if (isUuid(name)) {
    const owner = await ownerOf(pool, name);
    return owner?.tenantId === tenantId ? { id: owner.printerId, name: null } : undefined;
  }
  // PostgreSQL cannot compare a text with a NUL.
  if (name.includes('\0')) return undefined;
  if (!/^\d{1,10}$/.test(name)) return { id: name, name };
  const id = await printerOf(pool, tenantId, Math.min(Number(name), MOST_NUMBER));
  return id === undefined ? undefined : { id, name: null };
}

async function knownAs(pool: Pool, tenantId: string, printerId: string): Promise<Known> {
  const sql = 'SELECT * FROM platen.ipp_printers WHERE tenant_id = $1 AND printer_id = $2';
  const found = await rowOf(pool, known, sql, [tenantId, printerId]);
  if (found !== undefined) return { uuid: found.uuid, since: found.created_at };
  await pool.query(
    'INSERT INTO platen.ipp_printers (tenant_id, printer_id) VALUES ($1, $2) ON CONFLICT DO NOTHING',
    [tenantId, printerId],
  );
  const { uuid, created_at: since } = await onlyRow(pool, known, sql, [tenantId, printerId]);
  return { uuid, since };
}

/** Each printer that the caller prints on, with its number and its UUID. */
export async function offeredPrinters(pool: Pool, { tenantId, test }: Whose, holdersOf: HoldersOf) {
  const listed = (await listPrinters(pool, tenantId, holdersOf)).filter(
    (one) => !one.hidden && (one.forTests || !test),
  );
  const numbers = await numbersOf(
    pool,
    tenantId,
    'printer',
    listed.map(({ id }) => id),
  );
  return await Promise.all(
    listed.map(async ({ id, name }) => {
      const { uuid } = await knownAs(pool, tenantId, id);
      return { name, number: numbers.get(id)?.number, uuid };
    }),
  );
}

/** Of each size the first: media are told apart by their sizes alone. */
function formatsOf({ formats }: ListedPrinter): PrinterFormat[] {
  const bySize = new Map<string, PrinterFormat>();
  for (const format of formats) {
    const [media] = rollsOf([format]);
    if (media !== undefined && !bySize.has(media.name)) bySize.set(media.name, format);
  }
  return [...bySize.values()];
}

/** Reasons that IPP has no word for. */
const OWN_REASONS: Readonly<Record<string, string>> = {
  offline: 'offline-report',
  'agent-offline': 'offline-report',
  'printer-gone': 'offline-report',
};
/** Those that do not hold labels up. */
const WARNINGS: ReadonlySet<string> = new Set(['media-low', 'busy', 'connecting-to-device']);
/** IANA's words; the rest are `other`. */
const WORDS: ReadonlySet<string> = new Set([
  ...[
    'media-empty',
    'media-jam',
    'media-low',
    'marker-supply-empty',
    'cover-open',
    'paused',
    'spool-area-full',
  ],
  ...['connecting-to-device', 'output-area-full'],
]);

function reasonsOf(printer: ListedPrinter): string[] {
  const reasons = printer.reasons.map((reason) => {
    const own = OWN_REASONS[reason];
    if (own !== undefined || reason === 'paused') return own ?? reason;
    const word = WORDS.has(reason) ? reason : 'other';
    return `${word}-${WARNINGS.has(reason) ? 'warning' : 'error'}`;
  });
  if (printer.status === 'offline') reasons.push('offline-report');
  return reasons.length === 0 ? ['none'] : [...new Set(reasons)];
}

/** Labels a minute: nobody knows how fast a printer is, and IPP requires a figure (PWG 5100.12 §6.2). */
const NOMINAL_SPEED = 60;
/** Characters that are told of a name: IPP counts octets, 255 in a name, 127 in a model, and a character may be three. */
const LONGEST = { name: 85, model: 42 };

/** @param at `uri` by which the client came, `byUuid` may be the same; `web` has its page */
export function viewOf(
  { printer, formats, uuid, since }: OfferedPrinter,
  at: { uri: string; byUuid: string; web: string },
  jobs: { waiting: number; documentLimit: number },
): IppPrinterView {
  const security: IppAddress['security'] = at.uri.startsWith('ipps:') ? 'tls' : 'none';
  const [format] = formats;
  const addressOf = (uri: string): IppAddress => ({ uri, security, authentication: 'basic' });
  const name = printer.name.slice(0, LONGEST.name);
  const model = (printer.model ?? printer.name).slice(0, LONGEST.model);
  return {
    rolls: rollsOf(formats),
    dpi: format?.dpi ?? 203,
    scalings: ['none', 'auto-fit', 'fit'],
    holds: false,
    pages: true,
    identity: { name, announced: name, make: '', model, uuid, location: '' },
    addresses: at.uri === at.byUuid ? [addressOf(at.uri)] : [addressOf(at.uri), addressOf(at.byUuid)],
    web: at.web,
    formats: FORMATS,
    labelsPerMinute: NOMINAL_SPEED,
    documentLimit: jobs.documentLimit,
    documentWait: DOCUMENT_WAIT * 1_000,
    state: {
      state: standsStill(printer) ? 'stopped' : printer.status === 'processing' ? 'processing' : 'idle',
      reasons: reasonsOf(printer),
      jobs: jobs.waiting,
    },
    accepting: true,
    changedAt: Date.now(),
    since: since.getTime(),
  };
}
