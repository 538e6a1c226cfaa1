/**
 * Tells the network of the printers that IPP offers, by DNS-SD, as long as the service listens. Whoever hears it knows each printer's address, at
 * which the printer may be looked at without a key, and nothing be printed. So a deployment has to turn this on.
 */
import { isIPv4 } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { laneOf } from '../../contract/lane.ts';
import { Announcement, cut, instanceName, reachableAt, type Service } from '../../ipp/announcement.ts';
import type { ServerConfig } from '../config.ts';
import type { ChangeFeed } from '../events/change-feed.ts';
import { type ListedPrinter, listPrinters } from '../printers/printers.ts';
import type { Pool } from '../store/pool.ts';
import { announcedAs, FORMATS, modelOf, ownName } from './offered-printer.ts';
import { type Offer, offersOf, UNDER } from './offers.ts';

type Parts = { pool: Pool; feed: ChangeFeed; config: Pick<ServerConfig, 'host'>; publicUrl: () => string };

/** Printers that are announced, by their names. */
const MOST = 200;
/** The least ms between two looks at what is offered. */
const PAUSE = 1_000;

/** Announces while the instance listens, and says goodbye when it begins to close. */
export function announcing(app: FastifyInstance, parts: Parts): void {
  const announcer = new Announcer(app, parts);
  app.addHook('onListen', () => announcer.start());
  app.addHook('preClose', () => announcer.stop());
}

class Announcer {
  readonly #app: FastifyInstance;
  readonly #parts: Parts;
  readonly #announcements = new Map<string, Announcement>();
  #deaf: () => void = () => undefined;
  #stopped = false;
  #due: NodeJS.Timeout | undefined;
  /** Never rejects. */
  #looking: Promise<void> = Promise.resolve();

  constructor(app: FastifyInstance, parts: Parts) {
    this.#app = app;
    this.#parts = parts;
  }

  async start(): Promise<void> {
    this.#deaf = this.#parts.feed.listen({
      tenant: undefined,
      hear: (news) => {
        if (news === 'all' || news.printers.length > 0) this.#soon();
      },
    });
    this.#look();
    await this.#looking;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#deaf();
    clearTimeout(this.#due);
    await this.#looking;
    await Promise.all([...this.#announcements.values()].map((one) => one.stop(true)));
  }

  /** Reports of a busy deployment come all the time. */
  #soon(): void {
    this.#due ??= setTimeout(() => {
      this.#due = undefined;
      this.#look();
    }, PAUSE).unref();
  }

  #look(): void {
    this.#looking = this.#looking
      .then(() => (this.#stopped ? undefined : this.#announce()))
      .catch((error: unknown) => this.#app.log.warn({ err: error }, 'printers could not be announced'));
  }

  async #announce(): Promise<void> {
    const services = await this.#services();
    const addresses = new Set(reachableAt(this.#parts.config.host));
    for (const [address, announcement] of this.#announcements) {
      if (addresses.has(address)) continue;
      this.#announcements.delete(address);
      await announcement.stop(false);
    }
    for (const address of addresses) {
      const known = this.#announcements.get(address);
      if (known !== undefined) await known.change(services);
      else {
        const announcement = new Announcement(address, (error) =>
          this.#app.log.warn({ err: error }, 'DNS-SD failed'),
        );
        this.#announcements.set(address, announcement);
        await announcement.start(services);
      }
    }
  }

  async #services(): Promise<Service[]> {
    const { pool } = this.#parts;
    const laneOfOne = ({ tenant, id }: ListedPrinter) => laneOf({ scope: tenant, printerId: id });
    // Who serves it is asked of nobody.
    const printers = (await listPrinters(pool, undefined, async () => null)).filter(({ hidden }) => !hidden);
    const offers = await offersOf(pool, printers.map(laneOfOne));
    const offered = printers.flatMap((printer) => {
      const offer = offers.get(laneOfOne(printer));
      return offer === undefined ? [] : [{ printer, offer }];
    });
    if (offered.length > MOST)
      this.#app.log.warn(`of ${offered.length} printers that are offered, ${MOST} are announced`);
    const names = new Set<string>();
    return offered.slice(0, MOST).map((one) => {
      const service = this.#serviceOf(one);
      // Two tenants may call theirs by one name, in which the case of letters does not count.
      const name = names.has(service.name.toLowerCase())
        ? announcedAs(`${cut(one.printer.name, 30)} (${one.offer.uuid.slice(0, 4)})`)
        : service.name;
      names.add(name.toLowerCase());
      return { ...service, name };
    });
  }

  #serviceOf({ printer, offer }: { printer: ListedPrinter; offer: Offer }): Service {
    const url = new URL(this.#parts.publicUrl());
    const secure = url.protocol === 'https:';
    const txt = {
      txtvers: '1',
      qtotal: '1',
      rp: `${UNDER.slice(1)}/${offer.uuid}`,
      ty: modelOf(printer),
      product: '(Platen)',
      note: offer.place,
      pdl: FORMATS.join(','),
      adminurl: `${url.href}`,
      UUID: offer.uuid,
      kind: 'label',
      priority: '50',
      Color: 'F',
      Duplex: 'F',
      Copies: 'T',
      // How people prove who they are.
      air: 'username,password',
      TLS: secure ? '1.2' : '',
      // Platen's own agents do not take it for one of their printers.
      platen: 'offered',
    };
    const own = {
      name: announcedAs(printer.name),
      host: `${instanceName(`platen-${ownName().toLowerCase()}`)}.local`,
      txt,
    };
    const bound = this.#app.server.address();
    if (bound === null || typeof bound === 'string') throw new Error('the service has no TCP address');
    if (!secure) return { ...own, type: '_ipp._tcp', port: bound.port };
    // Behind a proxy, where the certificate is.
    const at = { type: '_ipps._tcp', port: Number(url.port || 443) } as const;
    return isIPv4(url.hostname)
      ? { ...own, ...at, address: url.hostname }
      : { ...own, ...at, host: url.hostname };
  }
}
