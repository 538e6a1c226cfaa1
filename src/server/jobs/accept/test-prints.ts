/** A test whether a printer prints: a job of one label that says where it came from. It takes quota, too. */
import { createHash } from 'node:crypto';
import type { AskedPrinters } from '../../printers/asked-printers.ts';
import { testJob } from '../../printers/test-label.ts';
import { ProblemError } from '../../problems.ts';
import { type Also, type Pool, transaction } from '../../store/pool.ts';
import { quotaExceeded } from '../../tenants/tenants.ts';
import type { Dispatching } from '../dispatch/dispatching.ts';
import { acceptIn } from './acceptance.ts';
import { keyReused } from './idempotency.ts';
import { route } from './route.ts';

export class TestPrints {
  readonly #pool: Pool;
  readonly #printers: AskedPrinters;
  readonly #dispatcher: Pick<Dispatching, 'accept' | 'inLanes'>;

  constructor(parts: {
    pool: Pool;
    printers: AskedPrinters;
    dispatcher: Pick<Dispatching, 'accept' | 'inLanes'>;
  }) {
    this.#pool = parts.pool;
    this.#printers = parts.printers;
    this.#dispatcher = parts.dispatcher;
  }

  /**
   * @param key undefined: each request makes a job of its own
   * @param also called with the job's ID, in the transaction that accepts it
   * @throws ProblemError `printer-not-found`, `printer-unassigned`, `format-…`, `quota-exceeded`, `idempotency-key-reused`
   */
  async print(
    tenantId: string,
    printerId: string,
    {
      format,
      account,
      key,
      also,
    }: { format: string | undefined; account: string; key: string | undefined; also?: Also<string> },
  ): Promise<{ id: string }> {
    const found = await this.#printers.find(tenantId, { id: printerId, name: null });
    const [first] = found.byId?.formats ?? [];
    if (found.byId === undefined || first === undefined) {
      throw new ProblemError('printer-not-found', 'the tenant has no such printer');
    }
    const request = {
      idT: 'test-label',
      printerId,
      format,
      orientation: 'portrait',
      numberCopies: 1,
    } as const;
    const way = route(request, found, testJob(tenantId, found.byId, first).template);
    const job = testJob(tenantId, way.printer, way.format);
    const { template } = job;
    const bodyHash = createHash('sha256')
      .update(JSON.stringify(['test', printerId, format]))
      .digest();
    const outcome = await transaction(this.#pool, async (client) => {
      const accepted = await acceptIn(client, this.#dispatcher.inLanes, {
        job,
        checked: { request, template, printerCommands: false, route: way, labels: 1, stamps: undefined },
        account,
        ownAccount: false,
        key: key === undefined ? undefined : { name: key, bodyHash },
        answer: job.jobId,
      });
      if (accepted.outcome === 'accepted') await also?.(client, job.jobId);
      return accepted;
    });
    switch (outcome.outcome) {
      case 'accepted':
        this.#dispatcher.accept(job);
        return { id: job.jobId };
      case 'replayed':
        return { id: outcome.jobId };
      case 'reused':
        throw keyReused();
      case 'quota':
        throw quotaExceeded(outcome, 1);
      case 'tenant-gone':
        throw new ProblemError('tenant-not-found', `there is no tenant "${tenantId}"`);
      default:
        throw new ProblemError('enqueue-failed', 'the job was not queued; send it again');
    }
  }
}
