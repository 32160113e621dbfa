import type { Config } from '../config';
import type { ChildServiceName } from './child-service';
import { freePort } from './ports';

/** Apart from the ports that tests choose for other servers: these are chosen before those are in use. */
const METRICS_PORTS = { from: 12_000, to: 20_000 } as const;

/** The ports of the processes that serve metrics. */
export type MetricsPorts = Readonly<Partial<Record<ChildServiceName, number>>>;

/** `METRICS_PORT` for the API and the next one for the worker, or free ports. */
export async function chooseMetricsPorts(
  { METRICS_PORT }: Pick<Config, 'METRICS_PORT'>,
  services: readonly ChildServiceName[],
): Promise<MetricsPorts> {
  if (!services.includes('api')) return {};
  const api = METRICS_PORT ?? (await freePort(METRICS_PORTS));
  return { api, worker: METRICS_PORT === undefined ? await freePortBeside(api) : METRICS_PORT + 1 };
}

async function freePortBeside(taken: number): Promise<number> {
  const port = await freePort(METRICS_PORTS);
  return port === taken ? freePortBeside(taken) : port;
}
