import path from 'node:path';
import { codecPortOf, dashboardPortOf, dashboardUrlOf, operatorPortOf, type Config } from '../config';
import { startChildService, type ChildServiceName } from './child-service';
import { createDirectory } from './create-directory';
import { ensureMasterKey, type DataDirectory } from './data-directory';
import { ensureLedger, ensureLogins, loginUrl, type DatabaseLogin } from './database-logins';
import { findTemporalBinary } from './find-temporal-binary';
import type { LocalStackConfig } from './local-stack-config';
import { chooseMetricsPorts } from './metrics-ports';
import type { Port } from './ports';
import { ensureDatabase, PostgresCluster } from './postgres';
import type { Progress } from './progress';
import type { Supervisor } from './supervisor';
import { runAll } from './task-group';
import { startTemporal } from './temporal';
import { TEMPORAL_CLI } from './temporal-binaries';

export interface DatabaseAccess {
  readonly databaseUrl: string;
  readonly masterKey: string;
  readonly oldMasterKeys: readonly string[];
  readonly sandboxUrl: string;
}

export interface StackOptions<Prepared> {
  readonly config: LocalStackConfig;
  readonly dataDirectory: DataDirectory;
  /** Processes to run in addition to PostgreSQL and Temporal. No sandbox is started if `SANDBOX_URL` is set. */
  readonly services: readonly ChildServiceName[];
  /** Called before the services start. */
  readonly prepareDatabase: (access: DatabaseAccess) => Promise<Prepared>;
  readonly progress: Progress;
  readonly supervisor: Supervisor;
}

export interface Stack<Prepared> {
  readonly apiUrl: string;
  readonly operatorUrl: string;
  /** Null if the stack runs no dashboard. */
  readonly dashboardUrl: string | null;
  readonly sandboxUrl: string;
  /** The metrics of the API and the worker, if the stack runs them. */
  readonly metricsUrls: Readonly<Record<string, string>>;
  readonly temporalAddress: string;
  /** Null if Temporal is not part of the local stack. */
  readonly temporalUiUrl: string | null;
  /** The URL with the role that owns the database. */
  readonly databaseUrl: string;
  /** The URL with a role that every command, API and worker can run with. */
  readonly commandDatabaseUrl: string;
  readonly masterKey: string;
  readonly prepared: Prepared;
}

/** A process stops before those that it uses. */
export const STOP_ORDER = ['dashboard', 'api', 'worker', 'codec', 'sandbox', 'temporal', 'postgres'] as const;

const DATABASE = 'lunas';
/** `lunas sandbox` appends `_sandbox` to the name of the database of Lunas. */
const LEDGER = `${DATABASE}_sandbox`;

const LOGIN_OF: Readonly<Record<ChildServiceName, DatabaseLogin>> = {
  sandbox: 'lunas_local_sandbox',
  codec: 'lunas_local_operator',
  worker: 'lunas_local_workers',
  api: 'lunas_local_api',
  dashboard: 'lunas_local_dashboard',
};
const LOOPBACK = '127.0.0.1';

/** Shared by all steps of a start. */
interface StackContext<Prepared> extends StackOptions<Prepared> {
  readonly masterKey: string;
  readonly oldMasterKeys: readonly string[];
  readonly apiUrl: string;
  readonly sandboxUrl: string;
}

/**
 * Starts PostgreSQL and Temporal concurrently, then our services concurrently. PostgreSQL, Temporal and the sandbox are
 * not started if the environment has their address. On failure, the caller stops the supervisor's processes.
 * @throws UserError with the process that did not start, and its log
 */
export async function startStack<Prepared>(
  options: StackOptions<Prepared>,
  signal: AbortSignal,
): Promise<Stack<Prepared>> {
  const { config, dataDirectory } = options;
  const context: StackContext<Prepared> = {
    ...options,
    masterKey: config.LUNAS_MASTER_KEY ?? (await ensureMasterKey(dataDirectory)),
    oldMasterKeys: config.LUNAS_OLD_MASTER_KEYS ?? [],
    apiUrl: `http://${reachableHost(config.HOST)}:${config.PORT}`,
    sandboxUrl: config.SANDBOX_URL ?? `http://${reachableHost(config.SANDBOX_HOST)}:${config.SANDBOX_PORT}`,
  };
  const [database, temporal] = await runAll(signal, (signal) => [
    startDatabase(context, signal),
    startTemporalServer(context, signal),
  ]);
  const metricsPorts = await chooseMetricsPorts(config, options.services);
  await runAll(signal, (signal) =>
    ownServices(options).map((name) => {
      const databaseUrl = databaseUrlFor(config, database.databaseUrl, LOGIN_OF[name]);
      const environment = serviceEnvironment(context, databaseUrl, temporal.temporalAddress);
      const metrics = { METRICS_PORT: String(metricsPorts[name] ?? '') };
      return startService(context, name, { ...environment, ...metrics }, signal);
    }),
  );
  const metricsHost = reachableHost(config.METRICS_HOST);
  const metricsUrls = Object.fromEntries(
    Object.entries(metricsPorts).map(([name, port]) => [name, `http://${metricsHost}:${port}/metrics`]),
  );
  const operatorUrl = `http://${reachableHost(config.OPERATOR_HOST)}:${operatorPortOf(config)}`;
  const { apiUrl, sandboxUrl, masterKey } = context;
  const dashboardUrl = options.services.includes('dashboard') ? dashboardUrlOf(config) : null;
  return { apiUrl, operatorUrl, dashboardUrl, sandboxUrl, metricsUrls, masterKey, ...temporal, ...database };
}

async function startDatabase<Prepared>(
  context: StackContext<Prepared>,
  signal: AbortSignal,
): Promise<Pick<Stack<Prepared>, 'databaseUrl' | 'commandDatabaseUrl' | 'prepared'>> {
  const { config } = context;
  const databaseUrl = config.DATABASE_URL ?? (await startPostgres(context, signal));
  const prepared = await context.prepareDatabase({ ...context, databaseUrl });
  if (config.DATABASE_URL === undefined) {
    await ensureLogins(databaseUrl);
    await ensureLedger(databaseUrl, LEDGER);
  }
  return { databaseUrl, commandDatabaseUrl: databaseUrlFor(config, databaseUrl, 'lunas_local'), prepared };
}

/** A `DATABASE_URL` of the environment is that of all processes: its server has the roles that its operator made. */
function databaseUrlFor({ DATABASE_URL }: Config, superuserUrl: string, login: DatabaseLogin): string {
  return DATABASE_URL ?? loginUrl(superuserUrl, login);
}

async function startPostgres(
  { config, dataDirectory, progress, supervisor }: StackContext<unknown>,
  signal: AbortSignal,
): Promise<string> {
  return progress.track('PostgreSQL', async () => {
    const logFile = path.join(dataDirectory.logs, 'postgres.log');
    const cluster = await PostgresCluster.open(
      { directory: dataDirectory.postgres, logFile, port: config.POSTGRES_PORT },
      signal,
    );
    await supervisor.start('postgres', (signal) => cluster.start(signal), signal);
    await ensureDatabase(cluster.databaseUrl('postgres'), DATABASE);
    return cluster.databaseUrl(DATABASE);
  });
}

async function startTemporalServer(
  { config, services, dataDirectory, progress, supervisor }: StackContext<unknown>,
  signal: AbortSignal,
): Promise<Pick<Stack<unknown>, 'temporalAddress' | 'temporalUiUrl'>> {
  if (config.TEMPORAL_ADDRESS !== undefined) return { temporalAddress: config.TEMPORAL_ADDRESS, temporalUiUrl: null };
  const binary = await findTemporalBinary(TEMPORAL_CLI, config, progress, signal);
  const options = {
    binary,
    port: config.TEMPORAL_PORT,
    uiPort: config.TEMPORAL_UI_PORT,
    namespace: config.TEMPORAL_NAMESPACE,
    ...(services.includes('codec') && { codecUrl: `http://${LOOPBACK}:${codecPortOf(config)}` }),
    databaseFile: dataDirectory.temporalDatabase,
    logFile: path.join(dataDirectory.logs, 'temporal.log'),
  };
  await createDirectory(path.dirname(dataDirectory.temporalDatabase), 0o700);
  await progress.track('Temporal', () =>
    supervisor.start('temporal', (signal) => startTemporal(options, signal), signal),
  );
  return {
    temporalAddress: `${LOOPBACK}:${config.TEMPORAL_PORT}`,
    temporalUiUrl: `http://${LOOPBACK}:${config.TEMPORAL_UI_PORT}`,
  };
}

async function startService(
  { dataDirectory, progress, supervisor }: StackContext<unknown>,
  name: ChildServiceName,
  environment: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<void> {
  const options = { name, environment, logFile: path.join(dataDirectory.logs, `${name}.log`) };
  await progress.track(name, () => supervisor.start(name, (signal) => startChildService(options, signal), signal));
}

function ownServices({ config, services }: Pick<StackOptions<unknown>, 'config' | 'services'>): ChildServiceName[] {
  const isOther = { sandbox: config.SANDBOX_URL !== undefined, codec: config.TEMPORAL_ADDRESS !== undefined };
  return services.filter((name) => (name !== 'sandbox' && name !== 'codec') || !isOther[name]);
}

/** Our environment, with the addresses and the key of the local stack. */
function serviceEnvironment(
  { config, dataDirectory, masterKey }: StackContext<unknown>,
  databaseUrl: string,
  temporalAddress: string,
): NodeJS.ProcessEnv {
  return {
    ...process.env,
    LUNAS_HOME: dataDirectory.path,
    LUNAS_MASTER_KEY: masterKey,
    LUNAS_MASTER_KEY_FILE: '',
    LUNAS_ENVIRONMENT: 'sandbox',
    // The address has the mode of its pooler, and the authority.
    DATABASE_URL: databaseUrl,
    DATABASE_URL_FILE: '',
    DATABASE_POOLER: '',
    DATABASE_TLS_CA: '',
    TEMPORAL_ADDRESS: temporalAddress,
    PORT: String(config.PORT),
    OPERATOR_PORT: String(operatorPortOf(config)),
    DASHBOARD_PORT: String(dashboardPortOf(config)),
    SANDBOX_PORT: String(config.SANDBOX_PORT),
    CODEC_PORT: String(codecPortOf(config)),
    // There is no load balancer to wait for.
    DRAIN_SECONDS: '0',
  };
}

/** The ports that a start listens on, each with its environment variable. */
export function requiredPorts(config: LocalStackConfig, services: readonly ChildServiceName[]): Port[] {
  const own = ownServices({ config, services });
  const runsPostgres = config.DATABASE_URL === undefined;
  const runsTemporal = config.TEMPORAL_ADDRESS === undefined;
  return [
    ...(own.includes('api') ? apiPorts(config) : []),
    ...(own.includes('dashboard') ? [dashboardAddress(config)] : []),
    ...(own.includes('sandbox') ? [sandboxPort(config)] : []),
    ...(own.includes('codec') ? [{ variable: 'CODEC_PORT', host: LOOPBACK, port: codecPortOf(config) }] : []),
    ...(runsPostgres ? [{ variable: 'POSTGRES_PORT', host: LOOPBACK, port: config.POSTGRES_PORT }] : []),
    ...(runsTemporal ? [{ variable: 'TEMPORAL_PORT', host: LOOPBACK, port: config.TEMPORAL_PORT }] : []),
    ...(runsTemporal ? [{ variable: 'TEMPORAL_UI_PORT', host: LOOPBACK, port: config.TEMPORAL_UI_PORT }] : []),
  ];
}

function apiPorts(config: Config): Port[] {
  const operatorPort = operatorPortOf(config);
  return [
    { variable: 'PORT', host: config.HOST, port: config.PORT },
    { variable: 'OPERATOR_PORT', hostVariable: 'OPERATOR_HOST', host: config.OPERATOR_HOST, port: operatorPort },
  ];
}

function dashboardAddress(config: Config): Port {
  const { DASHBOARD_HOST: host } = config;
  return { variable: 'DASHBOARD_PORT', hostVariable: 'DASHBOARD_HOST', host, port: dashboardPortOf(config) };
}

function sandboxPort({ SANDBOX_HOST: host, SANDBOX_PORT: port }: LocalStackConfig): Port {
  const hint = `To use a running sandbox, set SANDBOX_URL=http://${reachableHost(host)}:${port}.`;
  return { variable: 'SANDBOX_PORT', host, port, hint };
}

function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return LOOPBACK;
  return host.includes(':') ? `[${host}]` : host;
}
