/**
 * The printers that this agent has seen, kept in its data directory: a printer that is off when the agent starts
 * is the printer that it was, and not a new one.
 */
import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { languageId, rasterType } from '../../contract/format.ts';
import { identityEvidence, printerId } from '../../contract/printer.ts';
import { evidence } from './evidence.ts';
import { driverChoice } from './provider.ts';

/** An endpoint that led to the printer when it was last there. */
const knownEndpoint = z.object({
  provider: z.string(),
  uri: driverChoice.shape.uri,
  /** How it is driven there; null: nobody knows. */
  driver: driverChoice.nullable(),
  /** What the provider told of it, and what the device there said. */
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
  /** It has answered a question at least once. */
  answers: z.boolean(),
  /** When it was last listed, ms since the epoch, to some minutes. */
  listedAt: z.number(),
});
export type KnownEndpoint = z.infer<typeof knownEndpoint>;

const knownPrinter = z.object({
  id: printerId,
  /** The endpoint that it is driven by: one of them that has a driver. */
  uri: driverChoice.shape.uri,
  endpoints: z.array(knownEndpoint).min(1),
});
export type KnownPrinter = z.infer<typeof knownPrinter>;

export class KnownPrinters {
  readonly #db: DatabaseSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** With when each was last there, ms since the epoch. What another version wrote and this cannot read is left out. */
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
