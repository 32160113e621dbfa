import path from 'node:path';
import { z } from 'zod';
import { UserError } from '../errors';
import { PACKAGE_ROOT } from '../package-info';
import { launch, type ManagedProcess } from './managed-process';
import { pollUntil } from './poll-until';

/** The commands that run in processes of their own. */
export type ChildServiceName = 'sandbox' | 'worker' | 'api';

export interface ChildServiceOptions {
  readonly name: ChildServiceName;
  readonly environment: NodeJS.ProcessEnv;
  readonly logFile: string;
}

const BUILT_COMMAND = path.join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'lunas.js');
const START_TIMEOUT_MS = 60_000;
/** Longer than the timeout of the service itself (`runService`). */
const STOP_SIGNALS = [{ signal: 'SIGTERM', graceMs: 20_000 }] as const;

/** Starts a built command in a process of its own. Resolves when it reports that it is ready. */
export async function startChildService(
  { name, environment, logFile }: ChildServiceOptions,
  signal: AbortSignal,
): Promise<ManagedProcess> {
  const service = await launch({
    command: process.execPath,
    args: ['--enable-source-maps', BUILT_COMMAND, name],
    env: environment,
    logFile,
    ipc: true,
    stopSignals: STOP_SIGNALS,
  });
  try {
    await pollUntil(
      `${name} is ready (log: ${logFile})`,
      async () => {
        if (!service.running) {
          throw new UserError(`${name} did not start: ${reasonIn(await service.lastLogLines(1))} (log: ${logFile})`);
        }
        return service.ready ? true : undefined;
      },
      { timeoutMs: START_TIMEOUT_MS, signal },
    );
    return service;
  } catch (error) {
    await service.stop();
    throw error;
  }
}

/** The message of a JSON log line. */
function reasonIn(logLine: string): string {
  try {
    const { err, msg } = z
      .object({ err: z.object({ message: z.string() }).optional(), msg: z.string() })
      .parse(JSON.parse(logLine));
    return err?.message ?? msg;
  } catch {
    return logLine;
  }
}
