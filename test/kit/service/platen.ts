/** A real `platen up` in a process of its own, and an integrator's side of the interface, for the tests of the whole road. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { AdminClient } from '../../../src/cli/admin-client.ts';
import { followJob } from '../../../src/cli/job-progress.ts';
import { SERVICE_FILE, serviceFile } from '../../../src/cli/which-service.ts';
import type { IntegrationCreated } from '../../../src/contract/admin.ts';
import type { JobView } from '../../../src/contract/job.ts';
import type { PrintRequestInput } from '../../../src/contract/print-request.ts';
import { PLATEN } from '../programs/built.ts';
import { START_TIMEOUT_MS } from '../programs/programs.ts';
import { placeCluster } from '../servers/made-cluster.ts';

export interface UpOptions {
  dataDir: string;
  /** The service alone is `server`. */
  command?: 'up' | 'server';
  /** Default: the one built for this run. */
  program?: string;
  args?: string[];
  env?: Record<string, string>;
  /** Run as this user ID (the tests being root). */
  uid?: number;
}

export class PlatenUp {
  readonly dataDir: string;
  readonly url: string;
  readonly admin: AdminClient;
  readonly adminToken: string;
  readonly #child: ChildProcess;
  readonly #output: { text: string };

  private constructor(parts: {
    dataDir: string;
    url: string;
    adminToken: string;
    child: ChildProcess;
    output: { text: string };
  }) {
    this.dataDir = parts.dataDir;
    this.url = parts.url;
    this.adminToken = parts.adminToken;
    this.admin = new AdminClient(parts);
    this.#child = parts.child;
    this.#output = parts.output;
  }

  /**
   * Starts it and waits for its ready line. A first start finds its database made, unless it runs as another user.
   * @throws Error with the output, when it ends before
   */
  static async start(options: UpOptions): Promise<PlatenUp> {
    const ownDatabase = options.env?.['DATABASE_URL'] === undefined && options.uid === undefined;
    if (ownDatabase) await placeCluster(options.dataDir);
    const output = { text: '' };
    const child = spawnUp(options, output);
    let limit: NodeJS.Timeout | undefined;
    const ready = new Promise<void>((resolve, reject) => {
      if (child.stdout !== null) {
        createInterface({ input: child.stdout }).on('line', (line) => {
          if (line.startsWith('platen is ready at ')) resolve();
        });
      }
      child.once('exit', (code) => reject(new Error(`platen up ended with ${code}:\n${output.text}`)));
      limit = setTimeout(() => {
        child.kill('SIGKILL');
        reject(new Error(`platen up was not ready after ${START_TIMEOUT_MS} ms:\n${output.text}`));
      }, START_TIMEOUT_MS);
    });
    await ready.finally(() => clearTimeout(limit));
    const { url, adminToken } = serviceFile.parse(
      JSON.parse(await readFile(join(options.dataDir, SERVICE_FILE), 'utf8')),
    );
    return new PlatenUp({ dataDir: options.dataDir, url, adminToken, child, output });
  }

  get #over(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** All that it has written to stdout and stderr. */
  get output(): string {
    return this.#output.text;
  }

  /** SIGKILL: nothing of the process runs another instruction. */
  async kill(): Promise<void> {
    if (this.#over) return;
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exit;
  }

  /** SIGTERM; resolves with the exit code, null when a signal has ended it. */
  async stop(): Promise<number | null> {
    if (this.#over) return this.#child.exitCode;
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    const [code] = await exit;
    return code === null ? null : Number(code);
  }

  /** Resolves with the exit code when it ends by itself. */
  async exited(): Promise<number> {
    if (!this.#over) await once(this.#child, 'exit', { signal: AbortSignal.timeout(60_000) });
    return Number(this.#child.exitCode);
  }

  /** Waits for the job's end. */
  async ended(jobId: string, timeoutMs = 60_000): Promise<JobView> {
    return await followJob(this.admin, jobId, () => {}, AbortSignal.timeout(timeoutMs));
  }

  /** Waits until an agent serves the printer of this name. */
  async printerOnline(name: string): Promise<void> {
    const signal = AbortSignal.timeout(30_000);
    for (;;) {
      // After a restore there is another of that name, of an agent that is gone.
      const printers = (await this.admin.printers()).filter((one) => one.name === name);
      const there = printers.some(
        ({ agents, status }) => status !== 'offline' && agents.some(({ online }) => online),
      );
      if (there) return;
      await pause(50, undefined, { signal });
    }
  }

  /** Paths of the pictures that a virtual printer has made, in their order. */
  async pictures(printer = 'virtual-1'): Promise<string[]> {
    const directory = join(this.dataDir, 'printed', printer);
    const files = await readdir(directory);
    return files
      .filter((file) => file.endsWith('.png'))
      .sort()
      .map((file) => join(directory, file));
  }
}

function spawnUp(options: UpOptions, output: { text: string }): ChildProcess {
  const args = [options.command ?? 'up', '--data', options.dataDir, '--port', '0', ...(options.args ?? [])];
  // A test names its own servers or none; those in the machine's environment are not for it.
  const { DATABASE_URL: _database, REDIS_URL: _redis, ...env } = process.env;
  const child = spawn(options.program ?? PLATEN, args, {
    env: { ...env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      output.text += String(chunk);
    });
  }
  return child;
}

/** Runs `platen up` where it is expected to be refused. */
export async function refusedUp(options: UpOptions): Promise<{ code: number; output: string }> {
  const output = { text: '' };
  const child = spawnUp(options, output);
  const [code] = await once(child, 'exit', { signal: AbortSignal.timeout(START_TIMEOUT_MS) });
  return { code: Number(code), output: output.text };
}

/** Runs another command to its end. */
export async function platen(
  args: string[],
  env: Record<string, string> = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = spawn(PLATEN, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const text = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    text.stdout += String(chunk);
  });
  child.stderr.on('data', (chunk) => {
    text.stderr += String(chunk);
  });
  const [code] = await once(child, 'close', { signal: AbortSignal.timeout(120_000) });
  return { code: Number(code), ...text };
}

/** A directory for a test's data; the caller removes it. */
export async function temporaryDirectory(): Promise<{
  path: string;
  [Symbol.asyncDispose]: () => Promise<void>;
}> {
  const path = await mkdtemp(join(tmpdir(), 'platen-road-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** What an integrator has: the configuration table, and a token got with it. */
export class Integrator {
  readonly account: IntegrationCreated;
  readonly token: string;

  private constructor(account: IntegrationCreated, token: string) {
    this.account = account;
    this.token = token;
  }

  static async make(up: PlatenUp, tenant = 'default'): Promise<Integrator> {
    const account = await up.admin.createIntegration(tenant, { name: `test ${randomUUID()}` });
    const response = await fetch(account.tokenUrl, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: account.apiKey,
        client_secret: account.apiSecret,
        audience: account.audience,
        scope: account.scope,
      }),
    });
    const answer: unknown = await response.json();
    if (typeof answer !== 'object' || answer === null || !('access_token' in answer)) {
      throw new Error(`no token: ${JSON.stringify(answer)}`);
    }
    return new Integrator(account, String(answer.access_token));
  }

  async request(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    return await fetch(new URL(path, this.account.printEndpoint), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.token}`,
        'content-type': 'application/json',
        'x-tenant': this.account.tenant,
        ...headers,
      },
      body: JSON.stringify(body),
    });
  }

  /** Posts a job and returns its ID. @throws Error with the problem, when it is refused */
  async post(job: PrintRequestInput, key: string = randomUUID()): Promise<string> {
    const response = await this.request('/v2/jobs', job, { 'idempotency-key': key });
    const answer: unknown = await response.json();
    if (!response.ok) throw new Error(`status ${response.status}: ${JSON.stringify(answer)}`);
    return Array.isArray(answer) ? String(answer[0]) : String(answer);
  }
}
