import type { FailedAttempts } from './failed-attempts.ts';
import type { PrintRequests } from './jobs/accept/print-requests.ts';
import type { JobQueue } from './jobs/dispatch/queue-port.ts';
import type { Cancellations } from './jobs/outcome/cancellations.ts';
import type { Integrations } from './oauth/integrations.ts';
import type { RequestRate } from './request-rate.ts';
import type { Pool } from './store/pool.ts';
import type { Traces } from './traces/traces.ts';

/** What a door works with whose callers send an integration's key: PrintNode's interface, and IPP. */
export type KeyDoorParts = {
  /** Undefined where the accounts are an external server's: `config.ts` lets nobody turn this on there. */
  integrations: Integrations | undefined;
  failures: FailedAttempts;
  rate: RequestRate;
  pool: Pool;
  printRequests: PrintRequests;
  cancellations: Cancellations;
  queue: Pick<JobQueue, 'leaseHolders'>;
  traces: Traces | undefined;
  /** Called with jobs that a caller has canceled. */
  changed: (jobs: string[]) => void;
};
