import { afterEach } from 'vitest';
import type { RawAgent } from './raw-agent.ts';

/** Its `push` keeps a connection, which ends after the test. */
export function useRawAgents(): Pick<RawAgent[], 'push'> {
  const open: RawAgent[] = [];
  afterEach(() => {
    for (const { socket } of open.splice(0)) socket.terminate();
  });
  return open;
}
