import { UserError } from '../errors';
import { onStopSignal } from '../local-stack/stop-signals';
import { createLogger, type Logger } from '../observability/logger';
import { CommandContext } from './command-context';
import { explainError } from './error-hints';

export interface RunningService {
  /** Completes the work in flight and releases all resources. */
  close(): Promise<void>;
}

/** After the drain time. */
const CLOSE_TIMEOUT_MS = 15_000;

/**
 * Runs a service process (`api`, `worker`, `sandbox`) until it exits:
 * - It sends `{ ready: true }` to its parent process.
 * - It stops gracefully on SIGTERM, SIGINT or SIGHUP, or if the parent ends (its IPC channel closes, also by kill -9).
 * - It exits immediately on a second signal.
 *
 * Exit code 0 after a graceful stop, 1 after any error.
 */
export async function runService(
  name: string,
  start: (log: Logger, context: CommandContext) => Promise<RunningService>,
): Promise<never> {
  const context = new CommandContext(process.env);
  const log = createLogger(name, context.config.LOG_LEVEL);
  const { LUNAS_CELL: cell } = context.config;
  if (cell !== undefined) log.setBindings({ cell });
  const fail = (error: unknown): never => {
    log.fatal({ err: error }, 'fatal error');
    process.exit(1);
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);

  const timeoutMs = context.config.DRAIN_SECONDS * 1000 + CLOSE_TIMEOUT_MS;
  const stopRequested = new Promise<void>((resolve) => {
    const stop = (): void => {
      setTimeout(() => fail(new Error(`not closed after ${timeoutMs / 1000} s`)), timeoutMs).unref();
      resolve();
    };
    onStopSignal(stop, () => process.exit(1));
    process.once('disconnect', stop);
    if (process.send && !process.connected) stop();
  });
  try {
    const tracing = await startTracingIfConfigured(name, log, context);
    const service = await start(log, context);
    process.send?.({ ready: true });
    await stopRequested;
    await service.close();
    await tracing?.close();
  } catch (error) {
    if (!(error instanceof UserError)) return fail(error);
    process.stderr.write(`${explainError(error)}\n`);
    process.exit(1);
  }
  process.exit(0);
}

/** The packages of OpenTelemetry are loaded only by a process that exports traces. */
async function startTracingIfConfigured(
  name: string,
  log: Logger,
  { config: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } }: CommandContext,
): Promise<RunningService | undefined> {
  if (endpoint === undefined) return undefined;
  const { startTracing } = await import('../observability/otlp-traces.js');
  return startTracing({ endpoint, service: `lunas-${name}`, log });
}
