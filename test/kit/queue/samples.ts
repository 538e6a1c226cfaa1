import { randomBytes, randomUUID } from 'node:crypto';
import { type Lane, laneOf } from '../../../src/contract/lane.ts';
import type { QueuedJob } from '../../../src/contract/queued-job.ts';
import type { JobReport } from '../../../src/contract/report.ts';
import type { QueueLogger } from '../../../src/queue/index.ts';

/** The ID of a shared printer, which is its lane's name too. */
export function printerId(): Lane {
  return laneOf({ scope: null, printerId: `serial-${randomBytes(8).toString('hex')}` });
}

export function job(printer: string, record: Record<string, string> = { city: 'Athens' }): QueuedJob {
  return {
    v: 1,
    jobId: randomUUID(),
    tenantId: 'default',
    scope: null,
    printerId: printer,
    templateId: 'template-1',
    template: {
      name: 'Sample',
      language: 'zpl',
      source: '^XA^FO10,10^A0N,30,30^FD{{city}}^FS^XZ',
      fields: [{ name: 'city' }],
    },
    format: { id: 'zpl-203', name: '4x6', language: 'zpl', dpi: 203, width: 101.6, height: 152.4 },
    orientation: 'portrait',
    copies: 1,
    records: [record],
    createdAt: '2026-11-21T10:00:00.000Z',
  };
}

export function report(of: QueuedJob, seq: number): JobReport {
  return {
    kind: 'job',
    jobId: of.jobId,
    agentId: 'agent-0001',
    printerId: of.printerId,
    at: '2026-11-21T10:00:00.000Z',
    delivery: 1,
    seq,
    status: 'printing',
    labels: { sent: seq, printed: 0 },
    reasons: [],
  };
}

/** A logger that keeps its lines. */
export function keepingLogger(): QueueLogger & { lines: string[] } {
  const lines: string[] = [];
  const keep = (fields: object, message: string) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  return { lines, info: keep, warn: keep, error: keep };
}

/** Collects values as they come, and resolves when there are enough. */
export class Collected<T> {
  readonly values: T[] = [];
  #waiting: Array<{ count: number; resolve: (values: T[]) => void }> = [];

  add(value: T): void {
    this.values.push(value);
    this.#waiting = this.#waiting.filter(({ count, resolve }) => {
      if (this.values.length < count) return true;
      resolve([...this.values]);
      return false;
    });
  }

  async reach(count: number): Promise<T[]> {
    if (this.values.length >= count) return [...this.values];
    const { promise, resolve } = Promise.withResolvers<T[]>();
    this.#waiting.push({ count, resolve });
    return await promise;
  }
}
