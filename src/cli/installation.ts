/**
 * A whole Platen in one process: database, queue, service, agent and virtual printers, started in this order and
 * stopped in the reverse one. `platen up` runs it for good, the demo and the tests for a while.
 */
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent } from '../agent/agent.ts';
import type { Logger } from '../log.ts';
import { openQueues } from '../queue/queues.ts';
import { Server } from '../server/server.ts';
import { startEmbedded } from '../server/store/embedded.ts';
import { VirtualZplPrinter } from '../virtual/zpl-printer.ts';
import { type AdminClient, SERVICE_FILE, ServiceRefusal, serviceFile } from './admin-client.ts';
import { CommandFailure } from './failure.ts';

/** A virtual printer: media in mm, speed in inches per second. */
export interface VirtualPrinterSpec {
  name: string;
  dpi: 203 | 300 | 600;
  width: number;
  height: number;
  speed: number;
}

export interface InstallationOptions {
  dataDir: string;
  host: string;
  /** 0 picks a free one. */
  port: number;
  virtualPrinters: VirtualPrinterSpec[];
  /** Other printers, by URI. */
  printers: string[];
  databaseUrl?: string | undefined;
  redisUrl?: string | undefined;
  logger: Logger;
}

/** What `--ready-file` holds. */
export interface Ready {
  url: string;
  tokenUrl: string;
  tenant: string;
  audience: string;
  scope: string;
}

const DEFAULT_TENANT = 'default';
/** How long printers have to be found and reported. */
const READY_TIMEOUT_MS = 30_000;
/** How long a job that is being printed may go on after a stop was asked for. */
const AGENT_GRACE_MS = 10_000;

/** `virtual-1`, `virtual-2`, …: 4 × 6 inch ZPL printers at 203 dpi. */
export function virtualPrinters(count: number): VirtualPrinterSpec[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `virtual-${index + 1}`,
    dpi: 203,
    width: 101.6,
    height: 152.4,
    speed: 6,
  }));
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

  /** Resolves once everything listens and every virtual printer is registered. */
  async start(signal: AbortSignal): Promise<Ready> {
    await using stack = new AsyncDisposableStack();
    // start
    this.#running = stack.move();
    throw new Error('todo');
  }

  /** Undoes `start`, also a `start` that failed half way. */
  async stop(): Promise<void> {
    await this.#running?.disposeAsync();
    this.#running = undefined;
  }
}
