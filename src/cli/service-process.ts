import { loadConfig } from '../config';
import { UserError } from '../errors';
import { onStopSignal } from '../local-stack/stop-signals';
import { createLogger, type Logger } from '../logger';

export interface RunningService {
  /** Finishes what is under way and lets go of everything. */
  close(): Promise<void>;
}

const CLOSE_TIMEOUT_MS = 15_000;

/**
 * The life of a process of ours (`api`, `worker`, `sandbox`), from its start to its exit:
 * says `{ ready: true }` to the process that started it, closes cleanly on SIGTERM, SIGINT, SIGHUP or when that process
 * is gone (its IPC channel closes, even after kill -9), and at once when asked a second time.
 * Exit code 0 after a clean end, 1 after any fault.
 */
export async function runService(name: string, start: (log: Logger) => Promise<RunningService>): Promise<never> {
  const log = createLogger(name, loadConfig().LOG_LEVEL);
  const fail = (error: unknown): never => {
    log.fatal({ err: error }, 'fatal error');
    process.exit(1);
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);

  const stopRequested = new Promise<void>((resolve) => {
    const stop = (): void => {
      setTimeout(() => fail(new Error(`not closed within ${CLOSE_TIMEOUT_MS / 1000} s`)), CLOSE_TIMEOUT_MS).unref();
      resolve();
    };
    onStopSignal(stop, () => process.exit(1));
    process.once('disconnect', stop);
    if (process.send && !process.connected) stop();
  });
  try {
    const service = await start(log);
    process.send?.({ ready: true });
    await stopRequested;
    await service.close();
  } catch (error) {
    if (!(error instanceof UserError)) return fail(error);
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
  process.exit(0);
}
