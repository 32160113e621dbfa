import { DefaultLogger, Runtime } from '@temporalio/worker';
import type { Logger } from '../logger';

let installed = false;

/**
 * Once a process: Temporal's own log goes into ours, from warnings on, and signals are our process's business alone.
 * @param metricsPort where Prometheus reads the worker's metrics; nowhere when not given
 */
export function installRuntime(log: Logger, metricsPort?: number): void {
  if (installed) return;
  installed = true;
  const logger = new DefaultLogger('WARN', ({ level, message, meta }) => {
    log[level === 'ERROR' ? 'error' : 'warn']({ ...meta, from: 'temporal' }, message);
  });
  const filter = { core: 'ERROR', other: 'ERROR' } as const;
  Runtime.install({
    logger,
    shutdownSignals: [],
    telemetryOptions: {
      logging: { filter, forward: {} },
      ...(metricsPort !== undefined && { metrics: { prometheus: { bindAddress: `0.0.0.0:${metricsPort}` } } }),
    },
  });
}
