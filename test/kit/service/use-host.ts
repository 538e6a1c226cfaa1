/** A directory and the servers that are needed by the programs that a file's tests start. */
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, test } from 'vitest';
import { stopAll } from '../programs/stop-all.ts';
import { environmentOf, type OpenBackend, onRedis } from '../servers/backends.ts';
import { temporaryDirectory } from './platen.ts';
import { RunningPrograms } from './running.ts';

/** What a test starts there ends after it. */
export function useHost(): Host {
  const host = new Host();
  beforeAll(() => host.open());
  afterEach(() => host.programs.end());
  afterAll(() => host.close());
  return host;
}

/** The same for each test alone, so that some can wait side by side: `testOnHost('…', async ({ host }) => …)`. */
// biome-ignore lint/correctness/noEmptyPattern: the runner reads off it that nothing else is needed
export const testOnHost = test.extend('host', async ({}, { onCleanup }) => {
  const host = new Host();
  onCleanup(() => host.close());
  await host.open();
  return host;
});

export class Host {
  readonly programs = new RunningPrograms();
  readonly #parts: { stop(): unknown }[] = [];
  #directory: Awaited<ReturnType<typeof temporaryDirectory>> | undefined;
  #backend: OpenBackend | undefined;

  async open(): Promise<void> {
    this.#directory = await temporaryDirectory();
    this.#backend = await onRedis().open({ migrated: true });
  }

  /** Stops `part` with the host, what was started last first; the programs before all of them. */
  running(part: { stop(): unknown }): void {
    this.#parts.push(part);
  }

  async close(): Promise<void> {
    await this.programs.end();
    await stopAll(this.#parts, (part) => part.stop());
    await this.#backend?.close();
    await this.#directory?.[Symbol.asyncDispose]();
  }

  path(name: string): string {
    if (this.#directory === undefined) throw new Error('the host is not there yet');
    return join(this.#directory.path, name);
  }

  get databaseUrl(): string {
    return this.#open.databaseUrl ?? '';
  }

  get redisUrl(): string {
    return this.#open.redisUrl ?? '';
  }

  /** For a program that is to use the servers. */
  get env(): ReturnType<typeof environmentOf> {
    return environmentOf(this.#open);
  }

  get #open(): OpenBackend {
    if (this.#backend === undefined) throw new Error('the servers are not there yet');
    return this.#backend;
  }
}
