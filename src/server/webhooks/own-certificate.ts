/**
 * Until when the service's address is good over https. Platen itself speaks http behind a proxy: so it looks at what its public
 * address shows, as an agent or an integrator sees it. Whoever looks writes it down for all instances.
 */
import { connect } from 'node:tls';
import { z } from 'zod';
import type { ServiceHealth } from '../../contract/readiness.ts';
import { type Pool, rowOf } from '../store/pool.ts';
import { within } from './checked-place.ts';

/** From when its end is soon, of a row of `platen.certificates`: a short one is renewed late. */
export const ENDS_SOON = "ends_at - least(interval '14 days', (ends_at - starts_at) / 4)";
/** ms */
const DEADLINE = 10_000;

export class OwnCertificate {
  readonly #pool: Pool;
  readonly #address: URL | null;

  /** @param publicUrl without https there is no certificate */
  constructor(pool: Pool, publicUrl: string | undefined) {
    const address = URL.parse(publicUrl ?? '');
    this.#pool = pool;
    this.#address = address?.protocol === 'https:' ? address : null;
  }

  /** What cannot be looked at stays as it was last seen. */
  async look(stops: AbortSignal): Promise<void> {
    const host = this.#address?.host ?? null;
    await this.#pool.query('DELETE FROM platen.certificates WHERE host IS DISTINCT FROM $1', [host]);
    if (this.#address === null) return;
    const shown = await validity(this.#address, stops).catch(() => null);
    if (shown === null) return;
    await this.#pool.query(
      `INSERT INTO platen.certificates (host, starts_at, ends_at) VALUES ($1, $2, $3)
       ON CONFLICT (host) DO UPDATE SET starts_at = excluded.starts_at, ends_at = excluded.ends_at`,
      [host, shown.from, shown.to],
    );
  }

  async health(): Promise<ServiceHealth> {
    if (this.#address === null) return {};
    const { host } = this.#address;
    const found = await rowOf(
      this.#pool,
      z.object({ ends_at: z.date(), is_soon: z.boolean() }),
      `SELECT ends_at, ${ENDS_SOON} <= now() AS is_soon FROM platen.certificates WHERE host = $1`,
      [host],
    );
    if (found === undefined) return {};
    return { certificate: { host, endsAt: found.ends_at.toISOString(), isSoon: found.is_soon } };
  }
}

/** Sends nothing, and so trusts any certificate. @throws Error if none is shown */
async function validity({ hostname, port }: URL, stops: AbortSignal): Promise<{ from: Date; to: Date }> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const socket = connect({
    ...{ host, port: port === '' ? 443 : Number(port), rejectUnauthorized: false },
    ...(hostname === host && !/^[\d.]+$/.test(host) && { servername: host }),
  });
  try {
    const shaken = new Promise<void>((resolve, reject) => {
      socket.once('secureConnect', resolve).once('error', reject);
    });
    await within(shaken, AbortSignal.any([stops, AbortSignal.timeout(DEADLINE)]));
    const { validFromDate: from, validToDate: to } = socket.getPeerX509Certificate() ?? {};
    if (from === undefined || to === undefined) throw new Error(`${host} shows no certificate`);
    return { from, to };
  } finally {
    socket.on('error', () => undefined).destroy();
  }
}
