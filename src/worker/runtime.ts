import { DefaultLogger, Runtime } from '@temporalio/worker';
import type { Logger } from '../observability/logger';
import { paymentIdOf } from '../temporal/log-payment';
import type { SdkMetrics } from './sdk-metrics';

/** The default of Node.js 20. A cached workflow keeps the buffer of its last result, and so the pool it is from. */
const BUFFER_POOL_BYTES = 8_192;

let installed: { readonly metrics: SdkMetrics | undefined } | undefined;

/**
 * Once per process: sends Temporal's warnings and errors to our log, leaves signals to our own handlers, and limits the
 * memory of its cache.
 * @param metrics where the SDK is to serve its metrics
 * @returns where it serves them, since the first call of the process
 */
export function installRuntime(log: Logger, metrics?: SdkMetrics): SdkMetrics | undefined {
  installed ??= install(log, metrics);
  return installed.metrics;
}

function install(log: Logger, metrics: SdkMetrics | undefined): NonNullable<typeof installed> {
  const logger = new DefaultLogger('WARN', ({ level, message, meta }) => {
    log[level === 'ERROR' ? 'error' : 'warn']({ ...meta, ...paymentIdOf(meta?.workflowId), from: 'temporal' }, message);
  });
  const filter = { core: 'ERROR', other: 'ERROR' } as const;
  Buffer.poolSize = BUFFER_POOL_BYTES;
  Runtime.install({
    logger,
    shutdownSignals: [],
    telemetryOptions: { logging: { filter, forward: {} }, ...(metrics && { metrics: exporterOf(metrics) }) },
  });
  return { metrics };
}

/** Names and units follow Prometheus' conventions, which `promtool check metrics` checks. */
function exporterOf({ address }: SdkMetrics) {
  const prometheus = {
    bindAddress: address,
    countersTotalSuffix: true,
    unitSuffix: true,
    useSecondsForDurations: true,
  };
  return { prometheus };
}
