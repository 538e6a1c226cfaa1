/** Queues for each test, empty, with a logger that keeps its lines. */
import { afterEach, beforeEach } from 'vitest';
import type { Queues } from '../../../src/queue/index.ts';
import type { BackendCase, OpenBackend } from '../servers/backends.ts';
import { openQueuesOf } from './over-gateway.ts';
import { keepingLogger } from './samples.ts';

export function useQueues({ open }: BackendCase) {
  const logger = keepingLogger();
  let opened: { backend: OpenBackend; queues: Queues } | undefined;
  const now = () => {
    if (opened === undefined) throw new Error('the queues are not open yet');
    return opened;
  };
  beforeEach(async () => {
    logger.lines.length = 0;
    const backend = await open();
    opened = { backend, queues: await openQueuesOf(backend, { logger }) };
  });
  afterEach(async () => {
    await now().queues.close({ timeoutMs: 0 });
    await now().backend.close();
  });
  return {
    logger,
    get queues() {
      return now().queues;
    },
    get backend() {
      return now().backend;
    },
  };
}
