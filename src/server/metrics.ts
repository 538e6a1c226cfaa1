/** The way to the service's numbers, which loads their library only where somebody wants them. */
import type { Registry } from 'prom-client';
import type { Report } from '../contract/report.ts';
import type { ServiceMetrics } from './service-metrics.ts';

/** @param registry undefined: nothing is counted */
export async function metricsIn(
  registry: Registry | undefined,
  parts: ConstructorParameters<typeof ServiceMetrics>[1],
): Promise<ServiceMetrics | undefined> {
  if (registry === undefined) return undefined;
  const loaded = await import('./service-metrics.ts');
  return new loaded.ServiceMetrics(registry, parts);
}

/** What becomes of a report that was applied: it is told, and counted if it was news. */
export function toldAndCounted(
  told: (report: Report) => void,
  metrics: ServiceMetrics | undefined,
): (report: Report, isNews: boolean) => void {
  return (report, isNews) => {
    told(report);
    if (isNews && report.kind === 'job') metrics?.reported(report);
  };
}
