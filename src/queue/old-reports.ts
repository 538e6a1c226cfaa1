/**
 * Reads the reports of agents from a version without lanes, all in one BullMQ queue. A service handles the
 * oldest report and deletes it. If two services do so at once, or one does it twice, nothing changes, as with
 * any repeated report.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Connection } from './redis-script.ts';
import { storedIn } from './redis-turns.ts';
import type { ReportPlan } from './report-batch.ts';
import type { StopOptions } from './stop-options.ts';

/** How often the queue is looked at, ms: there are hardly any such agents. */
const LOOK = 15_000;

export class OldReports {
  readonly #redis: Connection;
  readonly #keyOf: (name: string) => string;
  readonly #plan: ReportPlan;
  readonly #stopped = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(redis: Connection, keyOf: (name: string) => string, plan: ReportPlan) {
    this.#redis = redis;
    this.#keyOf = keyOf;
    this.#plan = plan;
  }

  async start(): Promise<void> {
    this.#running = this.#run();
  }

  async stop(_options?: StopOptions): Promise<void> {
    this.#stopped.abort();
    if (this.#redis.status === 'ready') await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      for (const list of ['active', 'wait']) {
        await this.#drain(this.#keyOf(list)).catch((error: unknown) => {
          if (!signal.aborted) this.#plan.errors.report('old reports not handled, tried again', error);
        });
      }
      await wait(LOOK, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async #drain(list: string): Promise<void> {
    while (!this.#stopped.signal.aborted && this.#redis.status === 'ready') {
      const id = await this.#redis.lindex(list, -1);
      if (id === null) return;
      const parsed = this.#plan.parse(storedIn((await this.#redis.hget(this.#keyOf(id), 'data')) ?? '').json);
      if ('issues' in parsed)
        this.#plan.logger.error({ jobId: id, issues: parsed.issues }, 'unreadable payload set aside');
      else await this.#plan.handle([{ report: parsed.value, ageMs: 0 }]);
      await this.#redis.lrem(list, -1, id);
      await this.#redis.del(this.#keyOf(id));
    }
  }
}
