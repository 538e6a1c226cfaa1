/** Bounds a tenant's requests per second to this instance, so that none leaves the others without room. */
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { ProblemError } from './problems.ts';

export class RequestRate {
  readonly #limiter: RateLimiterMemory;

  /** @param perSecond requests allowed for each tenant */
  constructor(perSecond: number) {
    this.#limiter = new RateLimiterMemory({ points: perSecond, duration: 1 });
  }

  /** Counts a request. @param of the tenant, or its test keys. @throws ProblemError `too-many-requests` */
  async count(of: string): Promise<void> {
    try {
      await this.#limiter.consume(of);
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error;
      const detail = `the tenant has sent more than ${this.#limiter.points} requests in a second`;
      throw new ProblemError('too-many-requests', detail, { headers: { 'retry-after': '1' } });
    }
  }
}
