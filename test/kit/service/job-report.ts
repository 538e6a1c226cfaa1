import { PRINTER } from './harness.ts';

/** What the agent of the tests says of a job at its printer, but for what a test changes in it. */
export function jobReport(jobId: string, changes: object): object {
  return {
    kind: 'job',
    jobId,
    agentId: 'agent-one',
    printerId: PRINTER,
    at: '2026-11-21T08:00:00.000Z',
    delivery: 1,
    seq: 0,
    status: 'printing',
    labels: { sent: 0, printed: 0 },
    reasons: [],
    ...changes,
  };
}
