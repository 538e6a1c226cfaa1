/** A site for tests: queues on a real backend, a virtual printer on a TCP port, and everything that was reported. */
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { RawAgentConfig } from '../../../src/agent/config.ts';
import { type Drivers, standardDrivers } from '../../../src/agent/drivers.ts';
import type { QueuedJob } from '../../../src/contract/queued-job.ts';
import type { AgentStateReport, JobReport, Report } from '../../../src/contract/report.ts';
import { openQueues, type Queues } from '../../../src/queue/index.ts';
import { VirtualZplPrinter, type VirtualZplPrinterOptions } from '../../../src/virtual/zpl/zpl-printer.ts';
import type { TestGateway } from '../queue/over-gateway.ts';
import { job as sampleJob } from '../queue/samples.ts';
import type { BackendCase, OpenBackend } from '../servers/backends.ts';

export const logger = pino({ level: process.env['TEST_LOG'] ?? 'silent' });

/** Short, so that tests wait for what happens and not for the clock. */
export const QUICK = {
  scan: 100,
  settle: 150,
  reconnectMin: 10,
  reconnectMax: 100,
  pollWaiting: 20,
  idleConnection: 100,
  confirm: 2_000,
};

export const testDrivers: Drivers = {
  ...standardDrivers,
  languagesModule: new URL('./plain-language.ts', import.meta.url),
};

/** A printer that cannot say how many labels it has printed in its life. */
export function withoutOdometer(drivers: Drivers): Drivers {
  return {
    ...drivers,
    dialectFor: (language) => {
      const dialect = drivers.dialectFor(language);
      if (dialect === null) return null;
      const status: typeof dialect.status = async (...asked) => ({
        ...(await dialect.status(...asked)),
        odometer: null,
      });
      return { ...dialect, status };
    },
  };
}

export class Directories {
  readonly #made: string[] = [];

  make(): string {
    const directory = mkdtempSync(join(tmpdir(), 'platen-test-agent-'));
    this.#made.push(directory);
    return directory;
  }

  remove(): void {
    for (const directory of this.#made) rmSync(directory, { recursive: true, force: true });
  }
}

/** Options of a virtual printer for tests to which they do not matter. */
export function smallPrinter(directories: Directories) {
  return { name: 'test', outDir: directories.make(), dpi: 203, width: 50, height: 25 } as const;
}

/** A virtual printer that keeps every label's `n`, in order, as read from the bytes that it took. */
export class TestPrinter extends VirtualZplPrinter {
  readonly labels: string[] = [];

  constructor(directories: Directories, options: Partial<VirtualZplPrinterOptions> = {}) {
    super({ ...smallPrinter(directories), keepsPartial: true, ...options });
    this.on('label', ({ rawFile }) => {
      this.labels.push(/\^FDlabel ([^^]*)\^FS/.exec(readFileSync(rawFile, 'latin1'))?.[1] ?? '?');
    });
  }

  async printed(count: number): Promise<void> {
    while (this.labels.length < count) await once(this, 'label');
  }
}

/** How long a report is waited for, ms: less than a test's limit, so the error can show what came. */
const REPORT_TIMEOUT_MS = 120_000;

/** Reports as they come, and promises for those that are waited for. */
export class Reports {
  readonly all: Report[] = [];
  readonly #news = new EventEmitter().setMaxListeners(0);

  add(report: Report): void {
    this.all.push(report);
    this.#news.emit('report', report);
  }

  /** The first report, past or future, that matches. @throws Error with the last ones, where none comes within 120 s */
  async job(jobId: string, matches: (report: JobReport) => boolean): Promise<JobReport> {
    return await this.#first(
      (report): report is JobReport => report.kind === 'job' && report.jobId === jobId && matches(report),
    );
  }

  async end(jobId: string): Promise<JobReport> {
    return await this.job(jobId, ({ status }) => status !== 'queued' && status !== 'printing');
  }

  /** The first matching report of an agent. @param since reports from before this time (ISO) do not count */
  async agent(matches: (report: AgentStateReport) => boolean, since = ''): Promise<AgentStateReport> {
    return await this.#first(
      (report): report is AgentStateReport =>
        report.kind === 'agent' && report.at >= since && matches(report),
    );
  }

  of(jobId: string): JobReport[] {
    return this.all.filter((report) => report.kind === 'job').filter((report) => report.jobId === jobId);
  }

  async #first<T extends Report>(wanted: (report: Report) => report is T): Promise<T> {
    const signal = AbortSignal.timeout(REPORT_TIMEOUT_MS);
    let looked = 0;
    for (;;) {
      for (; looked < this.all.length; looked += 1) {
        const report = this.all[looked];
        if (report !== undefined && wanted(report)) return report;
      }
      await once(this.#news, 'report', { signal }).catch((cause) => {
        throw new Error(`the report did not come, but ${JSON.stringify(this.all.slice(-3))}`, { cause });
      });
    }
  }
}

export interface Site {
  queues: Queues;
  /** Set: agents are at another site. */
  gateway: TestGateway | undefined;
  reports: Reports;
  /** For `openQueues` in another process. */
  queueOptions: { redisUrl: string | undefined; database: OpenBackend['database']; prefix: string } & Record<
    string,
    unknown
  >;
  close(): Promise<void>;
}

export async function openSite(backend: BackendCase): Promise<Site> {
  const opened = await backend.open();
  const { redisUrl, database, prefix } = opened;
  const queueOptions = { redisUrl, database, prefix, lockDurationMs: 1_000 };
  const queues = await openQueues({ ...queueOptions, logger });
  const reports = new Reports();
  await queues.consumeReports(async (batch) => {
    for (const { report } of batch) reports.add(report);
  });
  const close = async () => {
    await queues.close({ timeoutMs: 0 });
    await opened.close();
  };
  return { queues, gateway: opened.gateway, reports, queueOptions, close };
}

export function agentConfig(
  dataDir: string,
  printer: { uri: string },
  more: Omit<Partial<RawAgentConfig>, 'printers'> & { printer?: object } = {},
): RawAgentConfig {
  const { printer: entry, timings, ...rest } = more;
  return {
    dataDir,
    name: 'test agent',
    printers: [{ uri: printer.uri, ...entry }],
    renderThreads: 1,
    timings: { ...QUICK, ...timings },
    transport: { connect: 1_000, write: 3_000, query: 500 },
    ...rest,
  };
}

/** A job whose records say 0, 1, 2, … or what is given. */
export function jobFor(printerId: string, records: number | string[], copies = 1): QueuedJob {
  const values = typeof records === 'number' ? Array.from({ length: records }, (_, n) => String(n)) : records;
  const sample = sampleJob(printerId);
  const source = '^XA^FO10,10^A0N,60,60^FDlabel {{n}}^FS^XZ';
  return {
    ...sample,
    template: { name: 'Sample', language: 'zpl', source, fields: [{ name: 'n' }] },
    format: { ...sample.format, id: 'zpl-203-50x25', name: '50 × 25', width: 50, height: 25 },
    copies,
    records: values.map((n) => ({ n })),
    createdAt: new Date().toISOString(),
  };
}

/** What a job must have printed, in order. */
export function expected(job: QueuedJob): string[] {
  return job.records.flatMap((record) => Array.from({ length: job.copies }, () => String(record['n'])));
}
