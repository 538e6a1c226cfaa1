/**
 * Asks for `/healthz` all the time, each time on a new connection as a load balancer does. It runs on a
 * thread of its own, so that the attacker's own work does not count. An idle server that does nothing is
 * asked at the same moments: when that server is slow too, the machine is slow and not the service.
 */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { z } from 'zod';

/** ms between two questions. */
const EVERY = 20;
/** ms after which a missing answer is a failure. */
const GIVE_UP = 30_000;

const beat = z.object({
  /** ms that each answer took. */
  times: z.array(z.number()),
  /** Those of the idle server. */
  idle: z.array(z.number()),
  failures: z.array(z.string()),
});
export type Beat = z.infer<typeof beat>;

/** Started once; `take` gives what was measured since the last time. */
export class Pulse {
  readonly #worker: Worker;
  readonly #idle: Worker;

  private constructor(worker: Worker, idle: Worker) {
    this.#worker = worker;
    this.#idle = idle;
  }

  static async start(url: string): Promise<Pulse> {
    const thread = (data: string[]) =>
      new Worker(new URL(import.meta.url), { workerData: data, execArgv: [] });
    const idle = thread([]);
    const [idleUrl] = await once(idle, 'message');
    return new Pulse(thread([url, String(idleUrl)]), idle);
  }

  async take(): Promise<Beat> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#worker.once('message', resolve).once('error', reject);
    this.#worker.postMessage('take');
    try {
      return beat.parse(await promise);
    } finally {
      this.#worker.off('error', reject);
    }
  }

  async stop(): Promise<void> {
    await Promise.all([this.#worker.terminate(), this.#idle.terminate()]);
  }
}

function ask(url: string): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const asked = request(`${url}/healthz`, { agent: false, timeout: GIVE_UP }, (response) => {
    response.resume().once('end', () => {
      resolve(response.statusCode === 200 ? undefined : `status ${response.statusCode}`);
    });
  });
  asked.once('error', (error) => resolve(error.message));
  asked.once('timeout', () => asked.destroy(new Error('no answer')));
  asked.end();
  return promise;
}

async function timed(url: string, into: number[]): Promise<string | undefined> {
  const since = performance.now();
  const failure = await ask(url);
  into.push(performance.now() - since);
  return failure;
}

async function beats(url: string, idleUrl: string): Promise<never> {
  let current: Beat = { times: [], idle: [], failures: [] };
  parentPort?.on('message', () => {
    parentPort?.postMessage(current);
    current = { times: [], idle: [], failures: [] };
  });
  for (;;) {
    const now = current;
    const [failure] = await Promise.all([timed(url, now.times), timed(idleUrl, now.idle)]);
    if (failure !== undefined) now.failures.push(failure);
    await pause(EVERY);
  }
}

async function idleServer(): Promise<void> {
  const server = createServer((_request, response) => response.end('ok')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = z.object({ port: z.number() }).parse(server.address());
  parentPort?.postMessage(`http://127.0.0.1:${port}`);
}

if (parentPort !== null) {
  const [url, idleUrl] = z.array(z.string()).parse(workerData);
  await (url === undefined || idleUrl === undefined ? idleServer() : beats(url, idleUrl));
}
