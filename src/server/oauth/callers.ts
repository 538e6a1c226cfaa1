/** The callers of requests to `/v2`, or to a door beside it: each is identified, and counted, before the body is read. */
import type { FastifyRequest } from 'fastify';
import type { Permission } from '../../contract/admin.ts';
import type { RequestRate } from '../request-rate.ts';
import { whoseOf } from '../tenants/whose.ts';
import type { AccountAge, Caller } from './caller.ts';

type Identify<Needed> = (request: FastifyRequest, needed: Needed, age: AccountAge) => Promise<Caller>;

export class Callers<Needed = Permission> {
  readonly identify: Identify<Needed>;
  readonly #rate: RequestRate;
  readonly #known = new WeakMap<FastifyRequest, Caller>();

  constructor(identify: Identify<Needed>, rate: RequestRate) {
    this.identify = identify;
    this.#rate = rate;
  }

  /** For `onRequest`: the body of a caller who may not do this is not read at all. */
  allow(needed: Needed, age: AccountAge = 'now'): (request: FastifyRequest) => Promise<void> {
    return async (request) => {
      const caller = await this.identify(request, needed, age);
      // A test that runs wild leaves the tenant its requests.
      await this.#rate.count(whoseOf(caller));
      this.#known.set(request, caller);
    };
  }

  /** The caller of a request that `allow` let in. */
  of(request: FastifyRequest): Caller {
    const caller = this.#known.get(request);
    if (caller === undefined) throw new Error('a handler ran without its caller');
    return caller;
  }
}
