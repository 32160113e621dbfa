import type { MetricsAddress } from '../config';
import { readRequestGauges } from '../http/request-metrics';
import type { Logger } from '../observability/logger';
import type { GaugeReader } from '../observability/metrics';
import { metricsPage, startMetricsServer } from '../observability/metrics-server';
import { processGauges, type Pools } from '../observability/process-gauges';
import { enableMetrics } from '../observability/prometheus';
import type { Admission } from '../services/payments/create/admission';

/** Serves the metrics of an API process, if it has an address for them. Call it before the first request. */
export async function startApiMetrics(
  { metrics: address, log }: { readonly metrics?: MetricsAddress | undefined; readonly log: Logger },
  pools: Pools,
  admission: Pick<Admission, 'stats'>,
): Promise<{ close(): Promise<void> } | undefined> {
  if (address === undefined) return undefined;
  enableMetrics('api');
  const gauges = processGauges(pools);
  const readers: readonly GaugeReader[] = [gauges.read, readRequestGauges, () => readAdmission(admission)];
  const server = await startMetricsServer(address, { '/metrics': () => metricsPage(readers) }, log);
  return {
    async close() {
      gauges.stop();
      await server.close();
    },
  };
}

function readAdmission(admission: Pick<Admission, 'stats'>): ReturnType<GaugeReader> {
  const { inFlight, rejected } = admission.stats();
  return Promise.resolve([
    { name: 'lunas_admission_in_flight', labels: {}, value: inFlight },
    { name: 'lunas_admission_rejected_total', labels: {}, value: rejected },
  ]);
}
