/**
 * Sets the faults of running virtual printers: HTTP on a Unix socket beside their labels, which only its
 * owner may open (on Windows a named pipe).
 *
 *     GET  /                                                      all of them
 *     POST /?printer=virtual-1&fault=media-empty&fault=slow%3D500 changes one, and answers as GET does
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmod, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import type { Logger } from '../../log.ts';
import { type AskedFaults, FaultWordError, faultsOf } from './faults.ts';

export const controlAnswer = z.union([
  z.object({
    printers: z.array(
      z.object({
        name: z.string(),
        uri: z.string(),
        /** The words for what is in effect. */
        faults: z.array(z.string()),
        /** Formats or jobs taken and not printed to their end. */
        waiting: z.int(),
        /** Labels printed in its life. */
        printed: z.int(),
      }),
    ),
  }),
  z.object({ error: z.string() }),
]);
type ControlAnswer = z.infer<typeof controlAnswer>;

/** A printer as it is shown and controlled here. */
interface ControlledPrinter {
  readonly name: string;
  readonly uri: string;
  readonly waiting: number;
  readonly odometer: number;
  faultWords(): string[];
  ask(faults: Partial<AskedFaults>): Promise<void>;
}

/** The longest path that macOS takes for a socket; Linux takes four bytes more. */
const LONGEST_PATH = 103;
const TIMEOUT_MS = 5_000;
const MAX_CONNECTIONS = 16;

/** The path of the socket or pipe for the printers of a directory. */
export function controlPath(directory: string): string {
  if (process.platform !== 'win32') return join(directory, 'virtual.sock');
  const key = createHash('sha256').update(resolve(directory).toLowerCase()).digest('hex').slice(0, 32);
  return `\\\\.\\pipe\\platen-virtual-${key}`;
}

/** Listens in the directory until disposed of; if it cannot, it logs a warning, and printers still run. */
export async function startControl(
  directory: string,
  printers: readonly ControlledPrinter[],
  logger: Logger,
): Promise<AsyncDisposable> {
  const path = controlPath(directory);
  const server = controlServer(printers);
  try {
    if (Buffer.byteLength(path) > LONGEST_PATH) throw new Error('the path is too long for a socket');
    await listen(server, path);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    logger.warn({ path, why }, 'virtual printers cannot be told their faults while they run');
  }
  return {
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function listen(server: Server, path: string): Promise<void> {
  const posix = process.platform !== 'win32';
  // The socket of a killed process would keep the next one from listening.
  if (posix && !(await answers(path))) await rm(path, { force: true });
  server.listen(path);
  await once(server, 'listening');
  if (posix) await chmod(path, 0o600);
}

async function answers(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(TIMEOUT_MS) });
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

function controlServer(printers: readonly ControlledPrinter[]): Server {
  const limits = { headersTimeout: TIMEOUT_MS, requestTimeout: TIMEOUT_MS };
  const server = createServer(limits, (request, response) => {
    request.resume();
    void answerTo(request, printers).then(([status, answer]) => {
      response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
      response.end(`${JSON.stringify(answer)}\n`);
    });
  });
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}

async function answerTo(
  { method, url = '/' }: IncomingMessage,
  printers: readonly ControlledPrinter[],
): Promise<[status: number, ControlAnswer]> {
  if (method === 'GET') return [200, { printers: printers.map(described) }];
  if (method !== 'POST') return [405, { error: 'GET and POST are known' }];
  try {
    const { searchParams: asked } = new URL(url, 'http://printer');
    const printer = printers.find(({ name }) => name === asked.get('printer'));
    if (!printer) return [404, { error: 'there is no such printer' }];
    await printer.ask(faultsOf(asked.getAll('fault')));
    return [200, { printers: [described(printer)] }];
  } catch (error) {
    const status = error instanceof FaultWordError ? 400 : 500;
    return [status, { error: error instanceof Error ? error.message : String(error) }];
  }
}

function described(printer: ControlledPrinter) {
  const { name, uri, waiting, odometer: printed } = printer;
  return { name, uri, faults: printer.faultWords(), waiting, printed };
}
