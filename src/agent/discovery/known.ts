/**
 * The printers that this agent has seen, kept in its data directory. So a printer that is off when the agent starts keeps its
 * ID, and does not become a new printer when it is switched on.
 */
import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { languageId, rasterType } from '../../contract/format.ts';
import { identityEvidence, printerId } from '../../contract/printer.ts';
import { evidence } from './evidence.ts';
import { chosenDriver } from './provider.ts';

/** An endpoint that led to the printer when it was last listed. */
const knownEndpoint = z.object({
  provider: z.string(),
  uri: chosenDriver.shape.uri,
  /** How the printer is driven at this endpoint; null: nobody knows. */
  driver: chosenDriver.nullable(),
  /** What the provider told of the device, and what the device itself said. */
  told: evidence,
  said: evidence,
  /** What the device said of itself; null: it has never said anything. */
  identity: z
    .object({
      evidence: identityEvidence,
      value: z.string(),
      model: z.string().exactOptional(),
      name: z.string().exactOptional(),
      dpi: z.number().exactOptional(),
      width: z.number().exactOptional(),
      height: z.number().exactOptional(),
      languages: z.array(languageId).exactOptional(),
      media: z.array(z.object({ width: z.number(), height: z.number() })).exactOptional(),
      raster: z.object({ type: rasterType, dpi: z.number().exactOptional() }).exactOptional(),
    })
    .nullable(),
  /** The device has answered a question at least once. */
  answers: z.boolean(),
  /** When the endpoint was last listed, ms since the epoch, rounded down to some minutes. */
  listedAt: z.number(),
});
export type KnownEndpoint = z.infer<typeof knownEndpoint>;

const knownPrinter = z.object({
  id: printerId,
  /** The address of the endpoint that the printer is driven by: one of `endpoints` that has a driver. */
  uri: chosenDriver.shape.uri,
  endpoints: z.array(knownEndpoint).min(1),
});
export type KnownPrinter = z.infer<typeof knownPrinter>;

export class KnownPrinters {
  readonly #db: DatabaseSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** `seenAt`: when the printer was last there, ms since the epoch. Rows that this version cannot read are left out. */
  all(): { printer: KnownPrinter; seenAt: number }[] {
    return this.#db
      .prepare('SELECT seen, seen_at FROM printers')
      .all()
      .flatMap((row) => {
        const { data } = knownPrinter.safeParse(JSON.parse(String(row['seen'])));
        return data === undefined ? [] : [{ printer: data, seenAt: Number(row['seen_at']) }];
      });
  }

  put(printer: KnownPrinter, seenAt: number): void {
    this.#db
      .prepare(
        `INSERT INTO printers (id, seen, seen_at) VALUES (?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET seen = excluded.seen, seen_at = excluded.seen_at`,
      )
      .run(printer.id, JSON.stringify(printer), seenAt);
  }

  forget(id: string): void {
    this.#db.prepare('DELETE FROM printers WHERE id = ?').run(id);
  }
}
