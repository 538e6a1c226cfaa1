/** The printers that IPP offers: by which addresses they are found, and how each describes itself. */
import { hostname } from 'node:os';
import type { PrinterFormat } from '../../contract/format.ts';
import { type Lane, laneOf, printerOf as printerIn } from '../../contract/lane.ts';
import { IPP_REASONS } from '../../contract/printer.ts';
import { standsStill } from '../../contract/printer-view.ts';
import { instanceName } from '../../ipp/announcement.ts';
import type { IppAddress, IppPrinterView } from '../../ipp/attributes.ts';
import { ANY_FORMAT, PWG_RASTER } from '../../ipp/document.ts';
import { rollsOf } from '../../ipp/media.ts';
import { MOST_NUMBER, numbersOf, printerOf } from '../numbers.ts';
import { askedPrinters, type HoldersOf, type ListedPrinter, listPrinters } from '../printers/printers.ts';
import type { Pool } from '../store/pool.ts';
import type { Whose } from '../tenants/whose.ts';
import { DOCUMENT_WAIT } from './door-jobs.ts';
import { isUuid, type Offer, offerAt, offersOf, withOffers } from './offers.ts';

/** What is printed: `ANY_FORMAT` is told by its bytes. */
export const FORMATS = [
  'application/pdf',
  'image/png',
  'image/jpeg',
  PWG_RASTER,
  'application/vnd.zebra-zpl',
  ANY_FORMAT,
];

/** `formats` are those of `rolls`, each the first of its size. */
export type OfferedPrinter = { printer: ListedPrinter; formats: readonly PrinterFormat[] } & Offer;

/** The printer that an address with a UUID names, for whoever asks without a key. */
export async function printerAt(
  pool: Pool,
  offer: Offer,
  holdersOf: HoldersOf,
): Promise<OfferedPrinter | undefined> {
  const [printer] = await listPrinters(pool, undefined, holdersOf, { lane: offer.lane });
  if (printer === undefined || printer.agents.length === 0) return undefined;
  return { printer, formats: formatsOf(printer), ...offer };
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
  const lane = await laneFor(pool, whose.tenantId, name);
  if (lane === undefined) return undefined;
  const offer = (await offersOf(pool, [lane])).get(lane);
  const offered = offer && (await printerAt(pool, offer, holdersOf));
  return whose.test && offered?.printer.forTests !== true ? undefined : offered;
}

/** Of the printers that the tenant's jobs go to. */
async function laneFor(pool: Pool, tenantId: string, name: string): Promise<Lane | undefined> {
  const offer = isUuid(name) ? await offerAt(pool, name) : undefined;
  const asked = offer ? { id: printerIn(offer.lane), name: null } : await askedFor(pool, tenantId, name);
  if (asked === undefined) return undefined;
  const { byId, named } = await askedPrinters(pool, tenantId, asked);
  const found = byId ?? (named.length === 1 ? named[0] : undefined);
  const lane = found && laneOf({ scope: found.scope, printerId: found.id });
  // Another tenant's or granted to others, or a shared one in whose place the tenant has one of its own.
  return offer !== undefined && offer.lane !== lane ? undefined : lane;
}

async function askedFor(
  pool: Pool,
  tenantId: string,
  name: string,
): Promise<{ id: string | null; name: string | null } | undefined> {
  // PostgreSQL cannot compare a text with a NUL.
  if (name.includes('\0')) return undefined;
  if (!/^\d{1,10}$/.test(name)) return { id: name, name };
  const id = await printerOf(pool, tenantId, Math.min(Number(name), MOST_NUMBER));
  return id === undefined ? undefined : { id, name: null };
}

/** Each printer that is offered and that the caller prints on, with its addresses; but those that people have hidden. @param base as `baseOf` says */
export async function offeredPrinters(
  pool: Pool,
  { tenantId, test }: Whose,
  holdersOf: HoldersOf,
  base: string,
): Promise<{ name: string; uri: string; byNumber: string }[]> {
  const listed = (await listPrinters(pool, { tenant: tenantId }, holdersOf)).filter(
    (one) => !one.hidden && (one.forTests || !test),
  );
  const offered = (await withOffers(pool, listed, base)).flatMap(({ id, name, ipp }) =>
    ipp === null ? [] : [{ id, name, uri: ipp }],
  );
  const numbers = await numbersOf(
    pool,
    tenantId,
    'printer',
    offered.map(({ id }) => id),
  );
  return offered.map(({ id, name, uri }) => ({ name, uri, byNumber: `${base}/${numbers.get(id)?.number}` }));
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
const WORDS: ReadonlySet<string> = new Set(IPP_REASONS);

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

/** This machine's name, without its domain. */
export function ownName(): string {
  return hostname().split('.', 1)[0] ?? '';
}

/** In the network: other machines may announce the printer itself by its name. */
export function announcedAs(name: string): string {
  return instanceName(`${name.slice(0, 40)} @ ${ownName()}`);
}

export function modelOf({ model, name }: ListedPrinter): string {
  return (model ?? name).slice(0, LONGEST.model);
}

/** @param at `uri` by which the client came, `byUuid` may be the same; `web` has its page */
export function viewOf(
  { printer, formats, uuid, since, place }: OfferedPrinter,
  at: { uri: string; byUuid: string; web: string },
  jobs: { waiting: number; documentLimit: number },
): IppPrinterView {
  const security: IppAddress['security'] = at.uri.startsWith('ipps:') ? 'tls' : 'none';
  const [format] = formats;
  const addressOf = (uri: string): IppAddress => ({ uri, security, authentication: 'basic' });
  const name = printer.name.slice(0, LONGEST.name);
  const model = modelOf(printer);
  return {
    rolls: rollsOf(formats),
    dpi: format?.dpi ?? 203,
    scalings: ['none', 'auto-fit', 'fit'],
    holds: false,
    pages: true,
    identity: {
      ...{ name, make: '', model, uuid },
      announced: announcedAs(printer.name),
      location: place.slice(0, LONGEST.model),
    },
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
