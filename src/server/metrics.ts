/** The ways to the service's numbers and traces, which are loaded only where somebody wants them. */
import type { Registry } from 'prom-client';
import type { JobReport, Report } from '../contract/report.ts';
import type { Logger } from '../log.ts';
import type { ServerConfig } from './config.ts';
import type { ServiceMetrics } from './service-metrics.ts';
import type { Pool } from './store/pool.ts';
import type { Traces } from './traces/traces.ts';

/** @param registry undefined: nothing is counted */
export async function metricsIn(
  registry: Registry | undefined,
  parts: ConstructorParameters<typeof ServiceMetrics>[1],
): Promise<ServiceMetrics | undefined> {
  if (registry === undefined) return undefined;
  const loaded = await import('./service-metrics.ts');
  return new loaded.ServiceMetrics(registry, parts);
}

/** What is done with a report that was applied: it is told, and what counts jobs notes it if it was news of one. */
export function toldAndNoted(
  told: (report: Report) => void,
  ...noting: ({ reported(report: JobReport): void } | undefined)[]
): (report: Report, isNews: boolean) => void {
  return (report, isNews) => {
    told(report);
    if (!isNews || report.kind !== 'job') return;
    for (const one of noting) one?.reported(report);
  };
}

/** @returns undefined: no endpoint is set */
export async function tracesTo(
  to: ServerConfig['traces'],
  pool: Pool,
  logger: Logger,
): Promise<Traces | undefined> {
  if (to.endpoint === undefined) return undefined;
  const loaded = await import('./traces/traces.ts');
  return new loaded.Traces(to.endpoint, to, pool, logger);
}
