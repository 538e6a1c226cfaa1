/**
 * A whole Platen in one process: database, queue, service, agent and virtual printers, started in this order and
 * stopped in the reverse one. `platen up` runs it for good, the demo and the tests for a while.
 */
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { PoolConfig } from 'pg';
import metadata from '../../package.json' with { type: 'json' };
import { Agent } from '../agent/agent.ts';
import type { RawAgentConfig } from '../agent/config.ts';
import type { PrinterConfig } from '../agent/printer-config.ts';
import { USUAL_SCOPE } from '../contract/admin.ts';
import type { Logger } from '../log.ts';
import { configFromEnv, type ServerConfigInput } from '../server/config.ts';
import type { ToldAgent } from '../server/printers/added-printers.ts';
import type { VirtualPort } from '../server/printers/virtual-printers.ts';
import { Server } from '../server/server.ts';
import { startEmbedded } from '../server/store/embedded.ts';
import { VirtualIppPrinter } from '../virtual/ipp/ipp-printer.ts';
import { DOCUMENT_FORMATS } from '../virtual/ipp/printer-state.ts';
import { startControl } from '../virtual/machine/control.ts';
import { faultsOf } from '../virtual/machine/faults.ts';
import { VirtualZplPrinter } from '../virtual/zpl/zpl-printer.ts';
import { AdminClient } from './admin-client.ts';
import { awaited, awaitedQueues, serverAt } from './awaiting.ts';
import { ending } from './ending.ts';
import { CommandFailure } from './failure.ts';
import { type MetricsPlace, serveMetrics } from './metrics.ts';
import { ownAdminToken, ownSecretKey, writeSecret } from './own-secrets.ts';
import type { Places } from './places.ts';
import { afterRestore } from './restored.ts';
import { wentBack } from './update/went-back.ts';
import { watchFolders } from './watch/folders.ts';
import type { FolderEntry } from './watch/folders-config.ts';
import { SERVICE_FILE, serviceFile } from './which-service.ts';

/** A virtual printer: media in mm, speed in inches per second. */
export interface VirtualPrinterSpec {
  name: string;
  dpi: 203 | 300 | 600;
  width: number;
  height: number;
  speed: number;
  /** Takes documents by IPP, instead of ZPL on a TCP port. */
  ipp?: true;
  /** What becomes of each job there, for test keys; left out: it is printed, at the printer's speed. */
  outcome?: 'failed' | 'held' | 'slow';
}

export interface InstallationOptions extends Places {
  dataDir: string;
  /** Wins over environment and file; undefined: theirs, or 127.0.0.1. */
  host?: string | undefined;
  /** The same; 0 picks a free one. */
  port?: number | undefined;
  /** Undefined: no `/metrics`. */
  metrics?: MetricsPlace | undefined;
  virtualPrinters: VirtualPrinterSpec[];
  /** Where virtual printers put their labels, a folder for each; by default `printed` in the data directory. */
  printedDir?: string;
  /** The service's settings from a file; the environment wins over them. */
  service?: Partial<ServerConfigInput>;
  /** The agent that runs here too; false: the service runs alone. */
  agent: Omit<RawAgentConfig, 'dataDir'> | false;
  /** Watched while everything else runs. */
  folders?: readonly FolderEntry[];
  logger: Logger;
  /** Called after each scan of the agent, as a sign that it is alive. */
  onAgentScan?: () => void;
  /** Called when the embedded database ends by itself: nothing works any more. */
  onLost?: (error: Error) => void;
}

/** What `--ready-file` holds. */
export interface Ready {
  url: string;
  tokenUrl: string;
  tenant: string;
  audience: string;
  scope: string;
}

type VirtualEntry = Pick<PrinterConfig, 'uri' | 'name' | 'dpi' | 'width' | 'height'>;

const DEFAULT_TENANT = 'default';
/** How long printers have to be found and reported. */
const READY_TIMEOUT_MS = 30_000;
/** How much longer a label takes at a printer for slow tests. */
const SLOW_MS = 10_000;
/** How long a job that is being printed may go on after a stop was asked for. */
const AGENT_GRACE_MS = 10_000;

/** `virtual-1`, `virtual-2`, …: 4 × 6 inch ZPL printers at 203 dpi; `virtual-ipp-1`, …: the same by IPP. */
export function virtualPrinters(zpl: number, ipp: number, speed: number): VirtualPrinterSpec[] {
  const media = { dpi: 203, width: 101.6, height: 152.4 } as const;
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
  return [
    ...numbers(zpl).map((number) => ({ name: `virtual-${number}`, ...media, speed })),
    ...numbers(ipp).map((number) => ({ name: `virtual-ipp-${number}`, ...media, speed, ipp: true as const })),
  ];
}

/** `test-printed`, `test-failed`, …: each is named after what becomes of jobs there. */
export function testPrinters(speed: number): VirtualPrinterSpec[] {
  const media = { dpi: 203, width: 101.6, height: 152.4, speed } as const;
  return [
    { name: 'test-printed', ...media },
    { name: 'test-failed', ...media, ipp: true, outcome: 'failed' },
    { name: 'test-held', ...media, outcome: 'held' },
    { name: 'test-slow', ...media, outcome: 'slow' },
  ];
}

export class Installation {
  readonly #options: InstallationOptions;
  #running: AsyncDisposableStack | undefined;
  #client: AdminClient | undefined;

  constructor(options: InstallationOptions) {
    this.#options = options;
  }

  /** The service's internal interface. @throws Error before `start` */
  get client(): AdminClient {
    if (this.#client === undefined) throw new Error('the installation is not started');
    return this.#client;
  }

  /**
   * Resolves once everything listens and every virtual printer is registered. What was started before a failure
   * is stopped again.
   */
  async start(signal: AbortSignal): Promise<Ready> {
    await using stack = new AsyncDisposableStack();
    const { dataDir, logger } = this.#options;
    await mkdir(dataDir, { recursive: true });
    const { host, port } = this.#options;
    // Secrets of environment and file come first: all instances have the same, and they can be changed there.
    const set = (name: string) => (process.env[name] ?? '') !== '';
    const { adminToken, secretKey } = this.#options.service ?? {};
    const ownToken = !set('PLATEN_ADMIN_TOKEN') && adminToken === undefined;
    const ownKey = !set('PLATEN_KEY') && secretKey === undefined;
    const config = configFromEnv(
      process.env,
      {
        ...(host !== undefined && { host }),
        ...(port !== undefined && { port }),
        ...(ownToken && { adminToken: await ownAdminToken(dataDir) }),
        ...(ownKey && { secretKey: await ownSecretKey(dataDir) }),
      },
      this.#options.service,
    );

    const place = this.#options.metrics;
    const metrics = place === undefined ? undefined : await serveMetrics(place);
    if (metrics !== undefined) {
      stack.defer(() => ending('metrics', () => metrics.stop()));
      logger.info({ url: metrics.url }, 'metrics are told');
    }
    const database = await this.#startDatabase(stack, config.poolSize, signal);
    const { databaseUrl, redisUrl, queuePrefix: prefix } = this.#options;
    const queues = await awaitedQueues(
      { database, databaseUrl, redisUrl, ...(prefix !== undefined && { prefix }), logger },
      { logger, signal },
    );
    stack.defer(() => ending('queues', () => queues.close()));
    await afterRestore(dataDir, this.#options);
    let agent: Agent | undefined;
    let own: ToldAgent | undefined;
    let printersHere: VirtualPort[] = [];
    const ownVirtuals = () => ({ agentId: agent?.id ?? null, printers: printersHere });
    const server = new Server({
      ...{ config, database, queues, logger },
      lanes: redisUrl === undefined ? queues.lanes : undefined,
      virtual: ownVirtuals,
      agent: () => own,
      metrics: metrics?.registry,
    });
    const { url } = await awaited(serverAt('PostgreSQL', databaseUrl), () => server.start(), {
      logger,
      signal,
    });
    stack.defer(() => ending('service', () => server.stop()));
    await awaited(serverAt('PostgreSQL', databaseUrl), () => server.ensureTenant({ id: DEFAULT_TENANT }), {
      logger,
      signal,
    });

    const { entries: virtual, printers: started } = await this.#startVirtualPrinters(stack);
    printersHere = started;
    const agentConfig = this.#options.agent;
    if (agentConfig !== false) {
      const printers = [...virtual, ...(agentConfig.printers ?? [])];
      const config = { ...agentConfig, dataDir, printers };
      agent = new Agent({
        config,
        queue: metrics === undefined ? queues : await metrics.counting(queues),
        wentBack: wentBack(metadata.version),
        ...(this.#options.onAgentScan && { onScan: this.#options.onAgentScan }),
        logger,
      });
      await agent.start();
      await server.noteVirtuals();
      const running = agent;
      if (running.id !== null) own = { id: running.id, drive: (printers) => running.drive(printers) };
      stack.defer(() => ending('agent', () => running.stop({ graceMs: AGENT_GRACE_MS })));
      await metrics?.watch(agent);
    }

    const service = serviceFile.parse({ url, adminToken: config.adminToken, metricsUrl: metrics?.url });
    const client = new AdminClient(service);
    this.#client = client;
    const addresses = virtual.map(({ uri }) => uri);
    await this.#printersRegistered(client, addresses, signal);
    const watched = watchFolders(this.#options.folders ?? [], logger, async () => client);
    stack.defer(() => ending('watched folders', () => watched.stop()));
    await writeSecret(join(dataDir, SERVICE_FILE), JSON.stringify(service));
    this.#running = stack.move();
    return {
      url,
      tokenUrl: `${config.publicUrl ?? url}/oauth/token`,
      tenant: DEFAULT_TENANT,
      audience: config.audience,
      scope: USUAL_SCOPE.join(' '),
    };
  }

  /** Undoes `start`. Idempotent. */
  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    this.#client = undefined;
    await running?.disposeAsync();
  }

  async #startDatabase(
    stack: AsyncDisposableStack,
    poolSize: number,
    signal: AbortSignal,
  ): Promise<PoolConfig> {
    const { dataDir, databaseUrl, logger, onLost } = this.#options;
    if (databaseUrl !== undefined) return { connectionString: databaseUrl };
    const embedded = await startEmbedded({
      dataDir,
      poolSize,
      logger,
      signal,
      ...(onLost === undefined ? {} : { onLost }),
    });
    stack.defer(() => ending('database', () => embedded.stop()));
    return embedded.poolConfig;
  }

  async #startVirtualPrinters(stack: AsyncDisposableStack) {
    const { dataDir, printedDir = join(dataDir, 'printed'), virtualPrinters, logger } = this.#options;
    if (this.#options.printedDir === undefined && virtualPrinters.length > 0) {
      // Also where somebody else has made the directory, with the mode of the umask.
      await mkdir(printedDir, { recursive: true });
      await chmod(printedDir, 0o700);
    }
    const started = await Promise.all(
      virtualPrinters.map(async ({ ipp, outcome, ...spec }) => {
        const faults = outcome === 'slow' ? { slow: SLOW_MS } : {};
        const options = { ...spec, faults, outDir: join(printedDir, spec.name), logger };
        const printer = ipp
          ? new VirtualIppPrinter({ ...options, announce: false })
          : new VirtualZplPrinter(options);
        if (outcome === 'failed' && printer instanceof VirtualIppPrinter)
          printer.misbehave({ refusedFormats: DOCUMENT_FORMATS });
        if (outcome === 'held' && printer instanceof VirtualZplPrinter) printer.dropFormats(Infinity);
        await printer.start();
        stack.defer(() => ending(spec.name, () => printer.stop()));
        const { name, dpi, width, height } = spec;
        return { printer, entry: { uri: printer.uri, name, dpi, width, height } };
      }),
    );
    const printers = started.map(({ printer }) => printer);
    if (printers.length > 0) stack.use(await startControl(dataDir, printers, logger));
    return { entries: started.map(({ entry }): VirtualEntry => entry), printers: printers.map(portOf) };
  }

  /** Waits for printers by their addresses: people may rename them, or give another printer the same name. */
  async #printersRegistered(client: AdminClient, addresses: string[], signal: AbortSignal): Promise<void> {
    if (addresses.length === 0) return;
    const deadline = AbortSignal.timeout(READY_TIMEOUT_MS);
    for (;;) {
      // The database may be away for a moment: then the list is asked for again.
      const printers = await client.printers().catch(() => []);
      const online = printers.filter(
        ({ uri, agents }) => addresses.includes(uri) && agents.some((agent) => agent.online),
      );
      if (online.length >= addresses.length) return;
      signal.throwIfAborted();
      if (deadline.aborted) {
        throw new CommandFailure(
          `Only ${online.length} of ${addresses.length} virtual printers came up in ${READY_TIMEOUT_MS} ms.`,
        );
      }
      await pause(50, undefined, { signal });
    }
  }
}

/** A virtual printer behind the interface that the service uses, since its code knows no virtual printers. */
function portOf(printer: VirtualIppPrinter | VirtualZplPrinter): VirtualPort {
  return {
    uri: printer.uri,
    state: () => ({ faults: printer.faultWords(), waiting: printer.waiting, printed: printer.odometer }),
    ask: (words) => printer.ask(faultsOf(words)),
    picture: (number) => printer.picture(number),
  };
}
