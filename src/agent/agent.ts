/**
 * The agent: finds printers, takes their jobs, prints them, and says how it goes.
 *
 *   providers ─▶ Discovery ─▶ Printers ─▶ a PrinterStation for each ─▶ PrinterLoop ─▶ PrinterLink
 *                                │            ▲          ▲                  │
 *                                ▼          Leases  DeliveryQueue            ▼
 *                          agent reports ─────────▶ Reporter ◀────────── Journal
 *                                                      └─▶ DeliveryQueue.publish
 */
import metadata from '../../package.json' with { type: 'json' };
import type { AddedPrinter } from '../contract/added-printer.ts';
import { laneOf } from '../contract/lane.ts';
import type { PrinterDescription } from '../contract/printer.ts';
import type { AgentStateReport, WentBack } from '../contract/report.ts';
import type { Logger } from '../log.ts';
import type { DeliveryQueue } from '../queue/index.ts';
import { RenderPool } from '../rendering/render-pool.ts';
import { withoutCredentials } from '../words/without-credentials.ts';
import { type AgentConfig, agentConfigWith, entriesIn, type RawAgentConfig } from './config.ts';
import { openDataDir } from './data-dir.ts';
import { KnownPrinters } from './discovery/known.ts';
import type { DiscoveryProvider } from './discovery/provider.ts';
import { type ConfiguredPrinters, configuredPrinters } from './discovery/providers/configured.ts';
import { providersOf } from './discovery/providers/index.ts';
import { type Drivers, standardDrivers } from './drivers.ts';
import type { HeartbeatMetrics } from './heartbeat-metrics.ts';
import { PrinterStation } from './job/station.ts';
import { Journal } from './journal.ts';
import { Leases } from './lease/leases.ts';
import { PinnedCertificates } from './printer/certificates.ts';
import type { Printer } from './printer/printer.ts';
import { type PrinterEvent, Printers } from './printer/printers.ts';
import { Reporter } from './reports/reporter.ts';
import { type AgentStatus, StatusFile } from './status-file.ts';

export interface AgentOptions {
  config: RawAgentConfig;
  queue: DeliveryQueue;
  logger: Logger;
  /** Default: all that there are. */
  drivers?: Drivers;
  /** IDs of printers whose next certificate is pinned anew, whatever they have shown before. */
  forgetCertificates?: readonly string[];
  /** What the last update of this machine has left for the service to be told. */
  wentBack?: WentBack | undefined;
  counts?: HeartbeatMetrics | undefined;
  /** Called after each scan of a provider, with or without a result, as a sign that the agent is alive. */
  onScan?: () => void;
  /** More providers, besides those that the configuration asks for. */
  providers?: readonly DiscoveryProvider[];
}

/** How soon the service is told of changes, ms: `STATUS_SOON` for a printer's status and for news, `SOON` for all else. */
const STATUS_SOON = 1_000;
const SOON = 20;
const PRUNE_EVERY = 3_600_000;
/** At a stop: longest wait until all reports are published, ms. */
const REPORTS_OUT = 5_000;

interface Running {
  agentId: string;
  printers: Printers;
  /** The printers that people have added at the service, as JSON. `keepAdded` writes them down for the next start. */
  added: string;
  keepAdded: (json: string) => void;
  configured: ConfiguredPrinters;
  pool: RenderPool;
  stations: Map<string, PrinterStation>;
  /** Resolve when the stations of printers that are gone have ended. */
  leaving: Set<Promise<void>>;
  leases: Leases;
  reporter: Reporter;
  status: StatusFile;
  startedAt: string;
  told: AgentStatus['told'];
  /** The disk took the status file when it was last written. As long as there is no job, nothing else tests the disk. */
  diskTakes: boolean;
  /** The newest report. */
  report: AgentStateReport | null;
  /** The warning that there is no printer has been logged. */
  saidNone: boolean;
  telling: { timer: NodeJS.Timeout; at: number } | null;
  release: (() => void | Promise<void>)[];
}

export class Agent {
  readonly #options: AgentOptions;
  readonly #drivers: Drivers;
  readonly #config: AgentConfig;
  readonly #logger: Logger;
  /** When the agent was last stopped, the service had been told all that it has to be told. */
  isTold = false;
  #running: Running | null = null;

  /** @throws ZodError for a configuration that is not valid */
  constructor(options: AgentOptions) {
    this.#options = options;
    this.#drivers = options.drivers ?? standardDrivers;
    this.#config = agentConfigWith(this.#drivers.transports).parse(options.config);
    this.#logger = options.logger;
  }

  /** null before the first start. */
  get id(): string | null {
    return this.#running?.agentId ?? null;
  }

  /** The printers, in the form in which the service is told of them. */
  get printers(): PrinterDescription[] {
    return this.#running?.printers.all.map((printer) => printer.describe()) ?? [];
  }

  /** Threads that make labels. */
  get renderThreads(): { busy: number; idle: number } {
    const { threads = 0, busy = 0 } = this.#running?.pool ?? {};
    return { busy, idle: threads - busy };
  }

  /** Begins anew, as if it had never had a job, because a copy of this agent may print its jobs. @throws DataDirError */
  async forgetJobs(): Promise<void> {
    await this.stop({ graceMs: 0 });
    await this.start({ forget: true });
  }

  /** Resolves when the agent works. Printers and queues follow as they are found and reached. @throws DataDirError */
  async start({ forget = false } = {}): Promise<void> {
    if (this.#running !== null) return;
    const config = this.#config;
    const drivers = this.#drivers;
    const logger = this.#logger;
    const dataDir = openDataDir(config.dataDir, config.id);
    const journal = new Journal(dataDir.db);
    if (forget) journal.forget();
    const prune = () => {
      try {
        journal.prune(Date.now() - config.timings.journalKeep);
      } catch (error) {
        logger.warn({ err: error }, 'journal not pruned');
      }
    };
    prune();
    const pool = new RenderPool({
      threads: config.renderThreads,
      languagesModule: drivers.languagesModule,
      stuckMs: config.timings.renderStuck,
      logger,
    });
    const { queue } = this.#options;
    const { agentId } = dataDir;
    const reporter = new Reporter({
      queue: {
        publish: async (report) => {
          try {
            const published = await queue.publish(report, config.tenantId);
            this.#told({ at: new Date().toISOString(), error: null });
            return published;
          } catch (error) {
            this.#told({ error: withoutCredentials(String(error)) });
            throw error;
          }
        },
      },
      journal,
      logger,
    });
    const leases = new Leases({ queue, agentId, leaseMs: config.timings.lease, logger });
    const certificates = new PinnedCertificates(dataDir.db);
    for (const id of this.#options.forgetCertificates ?? []) certificates.forget(id);
    const added = dataDir.added ?? '[]';
    const configured = configuredPrinters(
      config.printers,
      entriesIn(JSON.parse(added), drivers.transports, logger),
    );
    const printers = new Printers({
      host: dataDir.agentId,
      config,
      drivers,
      certificates,
      providers: [
        configured,
        ...providersOf(config.discovery, drivers.transports),
        ...(this.#options.providers ?? []),
      ],
      known: new KnownPrinters(dataDir.db),
      busy: (id) => this.#running?.stations.get(id)?.busy === true || journal.underWay(id),
      onEvent: (event, printer) => this.#printerEvent(event, printer, journal, pool),
      onNews: () => this.#tell(STATUS_SOON),
      onScan: () => {
        this.#sayThatNoneIsThere();
        this.#options.onScan?.();
      },
      logger,
    });
    const pruning = setInterval(prune, PRUNE_EVERY).unref();
    const beating = setInterval(() => this.#tell(SOON), config.timings.heartbeat).unref();
    this.#running = {
      agentId,
      printers,
      added,
      keepAdded: dataDir.keepAdded,
      configured,
      pool,
      stations: new Map(),
      leaving: new Set(),
      leases,
      reporter,
      status: new StatusFile(config.dataDir, (written) => this.#disk(written)),
      diskTakes: true,
      startedAt: new Date().toISOString(),
      told: { at: null, error: null },
      report: null,
      saidNone: false,
      telling: null,
      release: [
        () => clearInterval(pruning),
        () => clearInterval(beating),
        () => pool.stop(),
        () => journal.close(),
        () => dataDir.close(),
      ],
    };
    reporter.start();
    leases.start();
    printers.start();
    this.#tell(SOON);
    logger.info({ agent: dataDir.agentId, name: config.name, dataDir: config.dataDir }, 'agent started');
  }

  /**
   * Takes no new jobs, and gives jobs under way `graceMs` to finish. A job that has not finished by then goes back to its lane
   * where it stands. Then tells the service that the agent leaves, and closes everything. This takes at most the grace time,
   * the time to confirm labels under way, and a few seconds.
   */
  async stop({ graceMs = 10_000 }: { graceMs?: number } = {}): Promise<void> {
    const running = this.#running;
    if (running === null) return;
    const { printers, stations, leaving, leases, reporter } = running;
    await Promise.all([
      printers.stop(),
      ...[...stations.values()].map((station) => station.stop(graceMs)),
      ...leaving,
    ]);
    await leases.stop();
    clearTimeout(running.telling?.timer);
    reporter.agent(this.#report(running, false));
    this.#keep(running, this.#report(running, false));
    [this.isTold] = await Promise.all([
      reporter.stop(REPORTS_OUT),
      running.status.settled(),
      ...printers.all.map(({ device }) => device.drop()),
    ]);
    for (const release of running.release) await release();
    this.#running = null;
    this.#logger.info({ agent: running.agentId }, 'agent stopped');
  }

  /**
   * From now on the agent drives these added printers, and none that were added before, beside its other ones. This lasts even
   * if it is started again without the service. Does nothing before the agent is started.
   * @param printers all that people have added at the service for this agent
   */
  drive(printers: readonly AddedPrinter[]): void {
    const running = this.#running;
    const json = JSON.stringify(printers);
    if (running === null || running.added === json) return;
    try {
      running.keepAdded(json);
    } catch (error) {
      this.#logger.warn({ err: error }, 'the printers that were added are not kept over a start');
    }
    running.added = json;
    running.configured.drive(entriesIn(printers, this.#drivers.transports, this.#logger));
    this.#logger.info({ printers: printers.length }, 'the service has said which printers were added');
  }

  /** The queues answer again. Leases and reports that have failed meanwhile are tried again at once. */
  reached(): void {
    this.#running?.leases.reached();
    this.#running?.reporter.reached();
  }

  /** Warns that there is no printer, and again only after there was one: otherwise nobody would know why nothing comes out. */
  #sayThatNoneIsThere(): void {
    const running = this.#running;
    if (running === null) return;
    const { all, unreached } = running.printers;
    const isNone = this.#config.printers.length + all.length + unreached.length === 0;
    if (isNone && !running.saidNone) {
      this.#logger.warn(
        'no printer: none is configured, and none was found; "platen discover" says what is seen',
      );
    }
    running.saidNone = isNone;
  }

  #printerEvent(event: PrinterEvent, printer: Printer, journal: Journal, pool: RenderPool): void {
    const running = this.#running;
    if (running === null) return;
    const { id } = printer;
    if (event === 'added') {
      const { window, timings, tenantId: scope } = this.#config;
      const lane = laneOf({ scope, printerId: id });
      const lease = running.leases.of({
        lane,
        reached: () => printer.online,
        busy: () => station.uncertain,
        onServedElsewhere: (elsewhere) => {
          printer.servedElsewhere = elsewhere;
        },
      });
      const station = new PrinterStation(this.#options.queue, lease, {
        agentId: running.agentId,
        printerId: id,
        lane,
        device: () => printer.device,
        speaks: (language) => printer.speaks(language),
        confirmation: () => printer.confirmation(),
        journal,
        reporter: running.reporter,
        pool,
        window,
        timings,
        // The name is logged because an ID tells people nothing. It is the name that the printer had when it was added.
        logger: this.#logger.child({ printerName: printer.describe().name }),
      });
      running.stations.set(id, station);
      station.start();
    } else if (event === 'gone') {
      const left = running.stations.get(id)?.stop(0);
      running.stations.delete(id);
      const done = Promise.resolve(left)
        .then(() => printer.device.drop())
        .finally(() => running.leaving.delete(done));
      running.leaving.add(done);
    }
    this.#tell(event === 'changed' ? STATUS_SOON : SOON);
  }

  /** Reports the agent's state within `ms`. What changes until then goes into the same report. */
  #tell(ms: number): void {
    const running = this.#running;
    if (running === null) return;
    const at = performance.now() + ms;
    if (running.telling !== null && running.telling.at <= at) return;
    clearTimeout(running.telling?.timer);
    const timer = setTimeout(() => {
      running.telling = null;
      const report = this.#report(running, true);
      this.#keep(running, report);
      running.reporter.agent(report);
    }, ms);
    running.telling = { timer, at };
  }

  #keep(running: Running, report: AgentStateReport): void {
    running.report = report;
    const { status, startedAt, told } = running;
    status.write({ pid: process.pid, startedAt, report, told });
  }

  #disk(takes: boolean): void {
    const running = this.#running;
    if (running === null || running.diskTakes === takes) return;
    running.diskTakes = takes;
    if (!takes)
      this.#logger.error({ dataDir: this.#config.dataDir }, 'the disk takes nothing: no job is begun');
    this.#tell(SOON);
  }

  /** Notes whether the queue takes reports. If that changes, the status file is written at once, else with the next report. */
  #told(told: Partial<AgentStatus['told']>): void {
    const running = this.#running;
    if (running === null) return;
    const before = running.told;
    running.told = { ...before, ...told };
    const isNews = before.at === null || before.error !== running.told.error;
    if (isNews && running.report !== null) this.#keep(running, running.report);
  }

  #report(running: Running, online: boolean): AgentStateReport {
    return {
      kind: 'agent',
      agentId: running.agentId,
      name: this.#config.name,
      version: metadata.version,
      tenantId: this.#config.tenantId,
      ...{ at: new Date().toISOString(), online },
      printers: running.printers.all.map((printer) => {
        const described = printer.describe();
        if (running.diskTakes) return described;
        return { ...described, reasons: [...described.reasons, 'agent-disk'] };
      }),
      ...(running.printers.unreached.length > 0 && { unreached: running.printers.unreached }),
      ...(this.#options.wentBack && { wentBack: this.#options.wentBack }),
      counts: this.#options.counts?.said(this.renderThreads),
    };
  }
}
