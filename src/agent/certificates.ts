/**
 * Which certificate each printer has shown, kept in the agent's data directory: pinned at its first use.
 *
 * Nearly all printers sign their own certificates, so nobody vouches for the first one. From then on a device that
 * says it is that printer has to show the same: what is pinned belongs to the printer, wherever it is, and not to
 * an address, which the network gives to others. One that the system's authorities vouch for takes the place of
 * one that they do not, and never the other way round.
 */
import type { DatabaseSync } from 'node:sqlite';
import { BY_AUTHORITY } from '../../drivers/ipp/tls.ts';
import { TransportError } from '../../drivers/transports/transport.ts';

/** What a device has to show; `subjects`: all that it says it is, each as a printer ID. */
export interface Certificates {
  /** @throws TransportError `certificate-unknown` when it is known by another */
  check(subjects: readonly string[], shown: string): void;
}

/** Nothing is kept: every device is seen for the first time. */
export const noCertificates: Certificates = { check: () => undefined };

/** Pins that are kept. None is given up for another: that would let whoever fills the table take a printer's place. */
const MOST_PINS = 20_000;

export class PinnedCertificates implements Certificates {
  readonly #db: DatabaseSync;
  readonly #most: number;

  /** @param most pins that are kept, given by a test */
  constructor(db: DatabaseSync, most = MOST_PINS) {
    this.#db = db;
    this.#most = most;
  }

  check(subjects: readonly string[], shown: string): void {
    const pinned = this.#db.prepare('SELECT shown FROM certificates WHERE subject = ?');
    const others = subjects.filter((subject) => {
      const before = pinned.get(subject)?.['shown'];
      return before !== undefined && before !== shown;
    });
    if (others.length > 0 && shown !== BY_AUTHORITY) {
      throw new TransportError(
        'certificate-unknown',
        `it shows ${shown}. If that is right (compare it with the one that the printer tells), start the agent once ` +
          `with --forget-certificate ${others[0]}, or set "fingerprint256" in its "access" entry`,
      );
    }
    const unknown = subjects.filter((subject) => pinned.get(subject) === undefined);
    const kept = Number(this.#db.prepare('SELECT count(*) AS kept FROM certificates').get()?.['kept']);
    if (unknown.length > 0 && kept + unknown.length > this.#most) {
      throw new TransportError(
        'certificate-unknown',
        `${kept} certificates of printers are pinned, and no more are. Set "fingerprint256" in its "access" entry`,
      );
    }
    const pin = this.#db.prepare(
      `INSERT INTO certificates (subject, shown, since) VALUES (?, ?, ?)
       ON CONFLICT (subject) DO UPDATE SET shown = excluded.shown, since = excluded.since
       WHERE shown <> excluded.shown`,
    );
    for (const subject of subjects) pin.run(subject, shown, Date.now());
  }

  /** What it shows next is pinned anew; also what was pinned with it under its other names. */
  forget(subject: string): void {
    this.#db
      .prepare(
        `DELETE FROM certificates WHERE subject = ?
         OR shown IN (SELECT shown FROM certificates WHERE subject = ? AND shown <> ?)`,
      )
      .run(subject, subject, BY_AUTHORITY);
  }
}
