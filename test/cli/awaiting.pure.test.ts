/** A program that waits for a silent server says within 2 s which one. */
import { afterEach, expect, test, vi } from 'vitest';
import { awaited, serverAt } from '../../src/cli/awaiting.ts';
import { createLogger } from '../../src/log.ts';

afterEach(() => vi.useRealTimers());

test('within 2 s, with its address and without its password', async () => {
  vi.useFakeTimers();
  const said: string[] = [];
  const logger = createLogger({ level: 'warn', destination: { write: (line) => said.push(line) } });
  const ending = new AbortController();
  const server = serverAt('PostgreSQL', 'postgres://platen:s3cret@db.example/platen');
  const waiting = awaited(server, () => new Promise<never>(() => {}), { logger, signal: ending.signal });
  waiting.catch(() => undefined);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(said.map((line) => JSON.parse(line))).toMatchObject([
    { msg: 'waiting for PostgreSQL at db.example:5432', reason: 'no answer yet' },
  ]);
  expect(said.join()).not.toContain('s3cret');
  ending.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
});
