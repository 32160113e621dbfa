import type { Config } from '../config';
import type { ChildServiceName } from './child-service';
import { portChooser } from './ports';

/** Apart from the ports that tests choose for other servers: these are chosen before those are in use. */
const freeMetricsPort = portChooser({ from: 12_000, to: 20_000 });

/** The ports of the processes that serve metrics. */
export type MetricsPorts = Readonly<Partial<Record<ChildServiceName, number>>>;

/** `METRICS_PORT` for the API and the next ones for the worker and the dashboard, or free ports. */
export async function chooseMetricsPorts(
  { METRICS_PORT }: Pick<Config, 'METRICS_PORT'>,
  services: readonly ChildServiceName[],
): Promise<MetricsPorts> {
  if (!services.includes('api')) return {};
  if (METRICS_PORT !== undefined) return { api: METRICS_PORT, worker: METRICS_PORT + 1, dashboard: METRICS_PORT + 2 };
  return { api: await freeMetricsPort(), worker: await freeMetricsPort(), dashboard: await freeMetricsPort() };
}
