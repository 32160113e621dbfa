import { writeFile } from 'node:fs/promises';
import { Connection } from '@temporalio/client';
import { UserError } from '../errors';
import { pollUntil } from '../lib/poll-until';
import { launch, type ManagedProcess } from './managed-process';
import { releaseTemporalDatabase } from './orphaned-processes';

export interface TemporalOptions {
  /** The `temporal` command, as found by `findTemporalBinary`. */
  readonly binary: string;
  readonly port: number;
  readonly uiPort: number;
  /** The codec server, which the Web UI calls. */
  readonly codecUrl?: string;
  readonly namespace: string;
  /** Stores workflows over restarts; null: in memory. */
  readonly databaseFile: string | null;
  readonly logFile: string;
}

const START_TIMEOUT_MS = 60_000;
const STOP_SIGNALS = [{ signal: 'SIGTERM', graceMs: 5_000 }] as const;

/**
 * Fairness between the webhooks of merchants, and between creating and expiring payments. One partition per task queue:
 * the fastest with one server, and it dispatches tasks in order. The cache of workflows is limited by its bytes: by
 * default it keeps 128,000 workflows, open or closed.
 */
const DYNAMIC_CONFIG = [
  'matching.enableFairness=true',
  'matching.numTaskqueueReadPartitions=1',
  'matching.numTaskqueueWritePartitions=1',
  'history.cacheSizeBasedLimit=true',
  'history.hostLevelCacheMaxSizeBytes=134217728',
] as const;

/**
 * Few garbage collections while the heap is small, because the server shares a few cores with all other processes; as
 * many as it needs from 768 MB on.
 */
const GARBAGE_COLLECTION = { GOGC: '400', GOMEMLIMIT: '768MiB' } as const;

/** Starts a Temporal dev server with its Web UI on 127.0.0.1. Resolves when the namespace is available. */
export async function startTemporal(options: TemporalOptions, signal: AbortSignal): Promise<ManagedProcess> {
  if (options.databaseFile !== null) await releaseTemporalDatabase(options.databaseFile);
  const command = {
    command: options.binary,
    args: serverArguments(options),
    env: { ...process.env, ...GARBAGE_COLLECTION },
    logFile: options.logFile,
    stopSignals: STOP_SIGNALS,
  };
  return launch(command, async (server) => {
    if (options.databaseFile !== null) await writeFile(`${options.databaseFile}.pid`, `${server.pid}\n`);
    await waitUntilServing(server, options, signal);
  });
}

function serverArguments({ port, uiPort, codecUrl, namespace, databaseFile }: TemporalOptions): string[] {
  const listen = ['--ip', '127.0.0.1', '--port', String(port), '--ui-port', String(uiPort)];
  const dynamicConfig = DYNAMIC_CONFIG.flatMap((value) => ['--dynamic-config-value', value]);
  const namespaceOptions = ['--namespace', namespace, ...dynamicConfig];
  const codec = codecUrl === undefined ? [] : ['--ui-codec-endpoint', codecUrl];
  const pragmas = ['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'];
  const storage = databaseFile === null ? [] : ['--db-filename', databaseFile, ...pragmas];
  return ['server', 'start-dev', ...listen, ...codec, ...namespaceOptions, ...storage, '--log-level', 'warn'];
}

async function waitUntilServing(
  server: ManagedProcess,
  { port, namespace }: TemporalOptions,
  signal: AbortSignal,
): Promise<void> {
  const connection = Connection.lazy({ address: `127.0.0.1:${port}` });
  try {
    await pollUntil(
      'Temporal serves its namespace',
      async () => {
        if (!server.running) throw new UserError(`Temporal did not start:\n${await server.lastLogLines()}`);
        const describeNamespace = (): Promise<unknown> => connection.workflowService.describeNamespace({ namespace });
        return connection.withDeadline(Date.now() + 1_000, describeNamespace).then(
          () => true,
          () => undefined,
        );
      },
      { timeoutMs: START_TIMEOUT_MS, signal },
    );
  } finally {
    await connection.close();
  }
}
