/** Waits until the service has noted that jobs are in their lanes, which it does after the lane has them. */
import { expect } from 'vitest';
import type { ServiceHarness } from './harness.ts';

/** Whoever dates `dispatched_at` back must wait for this first, or what adds the jobs writes over it. */
export async function dispatched(service: ServiceHarness, ids: readonly string[]): Promise<void> {
  const sql = 'SELECT id::text FROM platen.jobs WHERE id = ANY($1) AND dispatched_at IS NULL';
  await expect.poll(async () => (await service.pool.query(sql, [ids])).rows, { timeout: 10_000 }).toEqual([]);
}
