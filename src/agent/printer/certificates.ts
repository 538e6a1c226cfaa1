/**
 * The certificate of each printer, pinned in the agent's data directory when the printer is first driven with it. It is not
 * enough that a device has shown a certificate: otherwise anybody could claim to be a printer and have their own pinned.
 *
 * Nearly all printers sign their own certificates, so nobody vouches for the first one. From then on, a device that says it is
 * that printer has to show the same certificate. A pin belongs to the printer, wherever the printer is, and not to an address,
 * because the network gives addresses to other devices. A certificate that the system's authorities vouch for may replace one
 * that they do not vouch for, but never the other way round.
 */
import type { DatabaseSync } from 'node:sqlite';
import { TransportError } from '../../../drivers/connection.ts';
import { BY_AUTHORITY } from '../../../drivers/ipp/tls.ts';

/** Which certificate a device has to show. `subjects`: all identities that the device claims, each as a printer ID. */
export interface Certificates {
  /**
   * Whether the device is already known by this certificate.
   * @throws TransportError `certificate-unknown` if it is known by another one
   */
  check(subjects: readonly string[], shown: string): boolean;
  /** Makes the device known by this certificate. @throws TransportError as `check`, and for a full table or disk */
  pin(subjects: readonly string[], shown: string): void;
}

/** Pins nothing: every device counts as seen for the first time. */
export const noCertificates: Certificates = { check: () => false, pin: () => undefined };

/** Most pins. No pin is dropped to make room: otherwise somebody could fill the table, and then take a printer's place. */
const MOST_PINS = 20_000;

export class PinnedCertificates implements Certificates {
  readonly #db: DatabaseSync;
  readonly #most: number;

  /** @param most pins; only a test sets it */
  constructor(db: DatabaseSync, most = MOST_PINS) {
    this.#db = db;
    this.#most = most;
  }

  check(subjects: readonly string[], shown: string): boolean {
    const before = subjects.map((subject) => this.#pinned(subject));
    const others = subjects.filter((_, place) => before[place] !== undefined && before[place] !== shown);
    if (others.length > 0 && shown !== BY_AUTHORITY) {
      throw new TransportError(
        'certificate-unknown',
        `it shows ${shown}. If that is right (compare it with the one that the printer tells), start the agent once ` +
          `with --forget-certificate ${others[0]}, or set "fingerprint256" in its "access" entry`,
      );
    }
    return before.includes(shown);
  }

  pin(subjects: readonly string[], shown: string): void {
    this.check(subjects, shown);
    const unknown = subjects.filter((subject) => this.#pinned(subject) === undefined);
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
    try {
      for (const subject of subjects) pin.run(subject, shown, Date.now());
    } catch (cause) {
      throw new TransportError('certificate-unknown', `it cannot be pinned: ${String(cause)}`, { cause });
    }
  }

  #pinned(subject: string): unknown {
    return this.#db.prepare('SELECT shown FROM certificates WHERE subject = ?').get(subject)?.['shown'];
  }

  /**
   * Forgets the pin of this subject, so that the device's next certificate is pinned anew. Other subjects with the same
   * certificate of its own are the same device, and their pins are forgotten too.
   */
  forget(subject: string): void {
    this.#db
      .prepare(
        `DELETE FROM certificates WHERE subject = ?
         OR shown IN (SELECT shown FROM certificates WHERE subject = ? AND shown <> ?)`,
      )
      .run(subject, subject, BY_AUTHORITY);
  }
}
