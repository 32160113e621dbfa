import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { msToTs } from '@temporalio/common/lib/time';
import { pollUntil } from '../../src/lib/poll-until';
import { launch, type ManagedProcess } from '../../src/local-stack/managed-process';
import { freePort } from '../../src/local-stack/ports';
import { runCommand } from '../../src/local-stack/run-command';
import { connectClient } from '../../src/temporal/connection';
import { NO_PAYLOAD_KEYS } from '../../src/temporal/payload-codec';

/** The server that the Temporal CLI of `lunas up` contains, built separately from the same sources. */
const VERSION = '1.29.1';
const PACKAGES = ['server', 'tools/sql'].map((name) => `go.temporal.io/server/cmd/${name}@v${VERSION}`);
const DIRECTORY = path.join(
  process.env['XDG_CACHE_HOME'] ?? path.join(os.homedir(), '.cache'),
  'lunas',
  `temporal-server-${VERSION}`,
);
const SERVER = path.join(DIRECTORY, 'server');
const SCHEMA_TOOL = path.join(DIRECTORY, 'sql');
const BUILD_TIMEOUT_MS = 40 * 60_000;
const SCHEMA_TIMEOUT_MS = 60_000;
const START_TIMEOUT_MS = 90_000;
const DAY_MS = 86_400_000;

export function hasTemporalServer(): boolean {
  return existsSync(SERVER) && existsSync(SCHEMA_TOOL);
}

/** Builds the server and the schema tool if they are missing. This needs Go and some minutes. */
export async function buildTemporalServer(signal: AbortSignal, log: (line: string) => void): Promise<void> {
  if (hasTemporalServer()) return;
  await mkdir(DIRECTORY, { recursive: true });
  for (const name of PACKAGES) {
    log(`go install ${name}, some minutes the first time`);
    const env = { ...process.env, GOBIN: DIRECTORY };
    await runCommand({ command: 'go', args: ['install', name], env, timeoutMs: BUILD_TIMEOUT_MS, signal });
  }
}

export interface PostgresTemporal {
  readonly directory: string;
  readonly logFile: string;
  readonly port: number;
  /** Any database of the server that stores Temporal's data. */
  readonly databaseUrl: string;
}

/** Creates Temporal's databases and tables. */
export async function createTemporalSchema(databaseUrl: string, signal: AbortSignal): Promise<void> {
  const { hostname, port, username, password } = new URL(databaseUrl);
  const server = ['--plugin', 'postgres12', '--ep', hostname, '-p', port, '-u', username, '--pw', password];
  const tool = (database: string, ...args: string[]): Promise<string> => {
    const command = { command: SCHEMA_TOOL, args: [...server, '--db', database, ...args] };
    return runCommand({ ...command, timeoutMs: SCHEMA_TIMEOUT_MS, signal });
  };
  for (const [database, schema] of Object.entries({ temporal: 'temporal', temporal_visibility: 'visibility' })) {
    await tool(database, 'create');
    await tool(database, 'setup-schema', '-v', '0.0');
    await tool(database, 'update-schema', '--schema-name', `postgresql/v12/${schema}`);
  }
}

/** Resolves when the namespace `default` can be used. */
export async function startPostgresTemporal(options: PostgresTemporal, signal: AbortSignal): Promise<ManagedProcess> {
  const config = path.join(options.directory, 'config');
  await mkdir(config, { recursive: true });
  // JSON is YAML.
  await writeFile(path.join(config, 'cluster.yaml'), JSON.stringify(await configOf(options)));
  await writeFile(path.join(config, 'dynamic.yaml'), JSON.stringify({ 'matching.enableFairness': [{ value: true }] }));
  const server = await launch({
    command: SERVER,
    args: ['--root', options.directory, '--config', 'config', '--env', 'cluster', 'start'],
    env: { ...process.env, GOGC: '400' },
    logFile: options.logFile,
    stopSignals: [{ signal: 'SIGTERM', graceMs: 10_000 }],
  });
  try {
    await waitUntilServing(server, options.port, signal);
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

async function configOf({ port, databaseUrl, directory }: PostgresTemporal): Promise<object> {
  const { host, username, password } = new URL(databaseUrl);
  const store = (databaseName: string): object => ({
    sql: {
      pluginName: 'postgres12',
      databaseName,
      connectAddr: host,
      connectProtocol: 'tcp',
      user: username,
      password,
      maxConns: 20,
      maxIdleConns: 20,
      maxConnLifetime: '1h',
    },
  });
  const service = async (grpcPort: number): Promise<object> => {
    return { rpc: { grpcPort, membershipPort: await freePort(), bindOnLocalHost: true } };
  };
  return {
    log: { stdout: true, level: 'warn' },
    persistence: {
      numHistoryShards: 4,
      defaultStore: 'default',
      visibilityStore: 'visibility',
      datastores: { default: store('temporal'), visibility: store('temporal_visibility') },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' } },
    services: {
      frontend: await service(port),
      matching: await service(await freePort()),
      history: await service(await freePort()),
      worker: await service(await freePort()),
    },
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: 'frontend',
          rpcAddress: `127.0.0.1:${port}`,
        },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    publicClient: { hostPort: `127.0.0.1:${port}` },
    dynamicConfigClient: { filepath: path.join(directory, 'config', 'dynamic.yaml'), pollInterval: '60s' },
  };
}

async function waitUntilServing(server: ManagedProcess, port: number, signal: AbortSignal): Promise<void> {
  const namespace = 'default';
  const client = connectClient({ address: `127.0.0.1:${port}`, namespace, security: {} }, NO_PAYLOAD_KEYS);
  const { workflowService } = client.connection;
  const withDeadline = <T>(call: () => Promise<T>) => client.connection.withDeadline(Date.now() + 2_000, call);
  const isServing = async (): Promise<true | undefined> => {
    if (!server.running) throw new Error(`Temporal ended at its start:\n${await server.lastLogLines()}`);
    const retention = { workflowExecutionRetentionPeriod: msToTs(DAY_MS) };
    await withDeadline(() => workflowService.registerNamespace({ namespace, ...retention })).catch(() => undefined);
    // Every part of the server has to know the namespace before it counts.
    const list = () => workflowService.listWorkflowExecutions({ namespace });
    return withDeadline(list).then(
      () => true,
      () => undefined,
    );
  };
  try {
    await pollUntil('Temporal serves its namespace', isServing, { timeoutMs: START_TIMEOUT_MS, signal });
  } finally {
    await client.connection.close();
  }
}
