import { beforeEach } from 'vitest';
import { PRINTER } from './harness.ts';
import { useService, useTenant } from './use-service.ts';

/** A report of the tests' agent on a job at its printer, with the test's changes. */
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

/** A service with a tenant; before each test an agent reports the tenant's one printer anew. */
export function useToldPrinter() {
  const service = useService();
  const acme = useTenant(service);
  beforeEach(async () => {
    await service.pool.query('DELETE FROM platen.agents');
    await service.agent([{}]);
  });
  return {
    service,
    acme,
    newJob: () => acme.newJob({ numberCopies: 10 }),
    /** As it is shown. */
    job: async (id: string): Promise<unknown> => (await service.admin('GET', `/jobs/${id}`)).body,
  };
}
