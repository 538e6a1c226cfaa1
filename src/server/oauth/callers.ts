/** The callers of requests to `/v2`: each is identified, and counted, before the body is read. */
import type { FastifyRequest } from 'fastify';
import type { Permission } from '../../contract/admin.ts';
import type { RequestRate } from '../request-rate.ts';
import type { AccountAge, Caller } from './caller.ts';

type Identify = (request: FastifyRequest, needed: Permission, age: AccountAge) => Promise<Caller>;

export class Callers {
  readonly identify: Identify;
  readonly #rate: RequestRate;
  readonly #known = new WeakMap<FastifyRequest, Caller>();

  constructor(identify: Identify, rate: RequestRate) {
    this.identify = identify;
    this.#rate = rate;
  }

  /** For `onRequest`: the body of a caller who may not do this is not read at all. */
  allow(needed: Permission, age: AccountAge = 'now'): (request: FastifyRequest) => Promise<void> {
    return async (request) => {
      const caller = await this.identify(request, needed, age);
      await this.#rate.count(caller.tenantId);
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
