import path from 'node:path';
import { UserError } from '../errors';
import { pollUntil } from '../lib/poll-until';
import { PACKAGE_ROOT } from '../package-info';
import { failureReason } from './failure-reason';
import { launch, type ManagedProcess } from './managed-process';

/** The commands that run in processes of their own. */
export type ChildServiceName = 'sandbox' | 'codec' | 'worker' | 'api' | 'dashboard';

export interface ChildServiceOptions {
  readonly name: ChildServiceName;
  readonly environment: NodeJS.ProcessEnv;
  readonly logFile: string;
}

const BUILT_COMMAND = path.join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'lunas.js');
/** The image has the second one too: V8 would give new objects 128 MB in each thread, and save no CPU. */
const NODE_FLAGS = ['--enable-source-maps', '--max-semi-space-size=16'];
const START_TIMEOUT_MS = 60_000;
/** Longer than the timeout of the service itself (`runService`). */
const STOP_SIGNALS = [{ signal: 'SIGTERM', graceMs: 20_000 }] as const;

/** Starts a built command in a process of its own. Resolves when it reports that it is ready. */
export async function startChildService(
  { name, environment, logFile }: ChildServiceOptions,
  signal: AbortSignal,
): Promise<ManagedProcess> {
  const options = {
    command: process.execPath,
    args: [...NODE_FLAGS, BUILT_COMMAND, name],
    env: environment,
    logFile,
    ipc: true,
    stopSignals: STOP_SIGNALS,
  };
  const isReady = async (service: ManagedProcess): Promise<true | undefined> => {
    if (service.running) return service.ready || undefined;
    throw new UserError(`${name} did not start: ${await failureReason(service)} (log: ${logFile})`);
  };
  return launch(options, (service) =>
    pollUntil(`${name} is ready (log: ${logFile})`, () => isReady(service), { timeoutMs: START_TIMEOUT_MS, signal }),
  );
}
