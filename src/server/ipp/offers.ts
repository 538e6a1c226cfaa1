/** Which printers IPP offers, and at which address: a setting of the printer, off until a person turns it on. */
import type { FastifyRequest } from 'fastify';
import { validate } from 'uuid';
import { z } from 'zod';
import { type Lane, lane, laneOf } from '../../contract/lane.ts';
import type { PrinterView } from '../../contract/printer-view.ts';
import { hostIn } from '../../ipp/request.ts';
import { type Queryable, rowOf, rowsOf } from '../store/pool.ts';

export const UNDER = '/ipp/print';

const row = z.object({ lane, ipp_uuid: z.string(), offered_at: z.date(), place: z.string().nullable() });
/** `uuid` is in the printer's address; `since`: when it was offered; `place`: where people say that it stands. */
export type Offer = { lane: Lane; uuid: string; since: Date; place: string };

const OFFERS =
  'SELECT lane, ipp_uuid, offered_at, place FROM platen.lane_settings WHERE offered_at IS NOT NULL AND';

function offerOf({ lane: of, ipp_uuid: uuid, offered_at: since, place }: z.output<typeof row>): Offer {
  return { lane: of, uuid, since, place: place ?? '' };
}

export function isUuid(name: string): boolean {
  return validate(name);
}

/** The printer that an address with a UUID names. */
export async function offerAt(db: Queryable, uuid: string): Promise<Offer | undefined> {
  const found = await rowOf(db, row, `${OFFERS} ipp_uuid = $1`, [uuid]);
  return found && offerOf(found);
}

/** Those of the printers that are offered. */
export async function offersOf(db: Queryable, lanes: readonly Lane[]): Promise<Map<Lane, Offer>> {
  const rows = await rowsOf(db, row, `${OFFERS} lane = ANY($1)`, [lanes]);
  return new Map(rows.map((one) => [one.lane, offerOf(one)]));
}

/** The printers with the address of each that is offered. @param base as `baseOf` says */
export async function withOffers<Printer extends Pick<PrinterView, 'id' | 'tenant'>>(
  db: Queryable,
  printers: readonly Printer[],
  base: string,
): Promise<(Printer & { ipp: string | null })[]> {
  const laneOfOne = ({ tenant, id }: Printer) => laneOf({ scope: tenant, printerId: id });
  const offers = await offersOf(db, printers.map(laneOfOne));
  return printers.map((one) => {
    const offer = offers.get(laneOfOne(one));
    return { ...one, ipp: offer === undefined ? null : `${base}/${offer.uuid}` };
  });
}

/** Offers a printer, again at the address that it had, or does so no longer. */
export async function setOffered(db: Queryable, of: Lane, offered: boolean): Promise<void> {
  await db.query(
    offered
      ? `INSERT INTO platen.lane_settings AS s (lane, ipp_uuid, offered_at) VALUES ($1, gen_random_uuid(), now())
         ON CONFLICT (lane) DO UPDATE SET ipp_uuid = coalesce(s.ipp_uuid, excluded.ipp_uuid), offered_at = coalesce(s.offered_at, now())`
      : 'UPDATE platen.lane_settings SET offered_at = NULL WHERE lane = $1',
    [of],
  );
}

/** `ipp://host:port/ipp/print` as the client knows it: IPP has a port of its own, so that HTTP's has to be named. */
export function baseOf({ protocol, host }: FastifyRequest, publicUrl: string): string {
  const secure = protocol === 'https';
  const named = hostIn(host) ?? new URL(publicUrl).host;
  const port = secure ? 443 : 80;
  return `${secure ? 'ipps' : 'ipp'}://${/:\d+$/.test(named) ? named : `${named}:${port}`}${UNDER}`;
}
