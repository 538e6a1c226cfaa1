/** A test whether a printer prints: a job of one label that says where it came from. It takes quota, too. */
import { createHash } from 'node:crypto';
import { testJob } from '../../printers/test-label.ts';
import { ProblemError } from '../../problems.ts';
import type { Also } from '../../store/pool.ts';
import { type AloneParts, acceptAlone } from './accept-alone.ts';
import { previousAnswer } from './idempotency.ts';
import { type AskedPrinters, route } from './route.ts';

type Parts = AloneParts & { printers: AskedPrinters };

export class TestPrints {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * @param key undefined: each request makes a job of its own
   * @param also called with the job's ID, in the transaction that accepts it
   * @throws ProblemError `printer-not-found`, `printer-unassigned`, `format-…`, those of `acceptAlone`
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
    const bodyHash = createHash('sha256')
      .update(JSON.stringify(['test', printerId, format]))
      .digest();
    if (key !== undefined) {
      const before = await previousAnswer(this.#parts.pool, tenantId, key, bodyHash);
      if (before !== undefined) return { id: before.jobId };
    }
    const found = await this.#parts.printers.find(tenantId, { id: printerId, name: null });
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
    const way = route(request, found, testJob(tenantId, found.byId, first).template, false);
    const job = testJob(tenantId, way.printer, way.format);
    const { template } = job;
    const { jobId } = await acceptAlone(
      this.#parts,
      {
        job,
        // No test in the sense of a test key: a person looks whether a printer prints.
        checked: {
          ...{ request, template, printerCommands: false, route: way, labels: 1 },
          ...{ test: false, stamps: undefined },
        },
        account,
        key: key === undefined ? undefined : { name: key, bodyHash },
      },
      { also },
    );
    return { id: jobId };
  }
}
