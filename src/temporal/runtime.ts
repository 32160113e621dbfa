import { DefaultLogger, Runtime } from '@temporalio/worker';
import type { Logger } from '../logger';
import { paymentIdOf } from './log-payment';

let installed = false;

/**
 * Once per process: sends Temporal's warnings and errors to our log, and leaves signals to our own handlers.
 * @param metricsAddress `host:port` for Prometheus; without it the worker has no metrics
 */
export function installRuntime(log: Logger, metricsAddress?: string): void {
  if (installed) return;
  installed = true;
  const logger = new DefaultLogger('WARN', ({ level, message, meta }) => {
    log[level === 'ERROR' ? 'error' : 'warn']({ ...meta, ...paymentIdOf(meta?.workflowId), from: 'temporal' }, message);
  });
  const filter = { core: 'ERROR', other: 'ERROR' } as const;
  Runtime.install({
    logger,
    shutdownSignals: [],
    telemetryOptions: {
      logging: { filter, forward: {} },
      ...(metricsAddress !== undefined && { metrics: { prometheus: { bindAddress: metricsAddress } } }),
    },
  });
}
