import path from 'node:path';
import type { Config } from '../config';
import { findTemporalCli } from './engine-binaries';
import { ensureMasterKey, type Home } from './home';
import { type LunasServiceName, startLunasService } from './lunas-service';
import { makeFolder } from './make-folder';
import type { Port } from './ports';
import { ensureDatabase, PostgresCluster } from './postgres';
import type { Progress } from './progress';
import { sideBySide } from './side-by-side';
import type { Supervisor } from './supervisor';
import { startTemporal } from './temporal';

/** What a fresh database needs before the services start. */
export type PrepareDatabase<Prepared> = (access: DatabaseAccess) => Promise<Prepared>;

export interface DatabaseAccess {
  readonly databaseUrl: string;
  readonly masterKey: string;
  readonly sandboxUrl: string;
}

export interface StackOptions<Prepared> {
  readonly config: Config;
  readonly home: Home;
  /** Which of our own processes to run beside PostgreSQL and Temporal; no sandbox where the environment gives one. */
  readonly services: readonly LunasServiceName[];
  readonly prepareDatabase: PrepareDatabase<Prepared>;
  readonly progress: Progress;
  readonly supervisor: Supervisor;
}

export interface Stack<Prepared> {
  readonly apiUrl: string;
  readonly sandboxUrl: string;
  readonly temporalAddress: string;
  /** Null where the engine is not ours. */
  readonly temporalUiUrl: string | null;
  readonly databaseUrl: string;
  readonly prepared: Prepared;
}

/** Who uses another is stopped before it. */
export const STOP_ORDER = ['api', 'worker', 'sandbox', 'temporal', 'postgres'] as const;

const DATABASE = 'lunas';
const LOOPBACK = '127.0.0.1';

/** What all steps of a start know. */
interface Context<Prepared> extends StackOptions<Prepared> {
  readonly masterKey: string;
  readonly apiUrl: string;
  readonly sandboxUrl: string;
}

/**
 * Starts PostgreSQL, Temporal and our services, side by side where one does not need the other; PostgreSQL, Temporal and
 * the sandbox each unless the environment gives an address. What is running when this fails is left to the supervisor's owner.
 * @throws UserError naming what does not start, and its log
 */
export async function startStack<Prepared>(
  options: StackOptions<Prepared>,
  signal: AbortSignal,
): Promise<Stack<Prepared>> {
  const { config, home } = options;
  const context: Context<Prepared> = {
    ...options,
    masterKey: config.LUNAS_MASTER_KEY ?? (await ensureMasterKey(home)),
    apiUrl: `http://${reachableHost(config.HOST)}:${config.PORT}`,
    sandboxUrl: config.SANDBOX_URL ?? `http://${LOOPBACK}:${config.SANDBOX_PORT}`,
  };
  const [database, engine] = await sideBySide(signal, (signal) => [
    startDatabase(context, signal),
    startEngine(context, signal),
  ]);
  const environment = serviceEnvironment(context, database.databaseUrl, engine.temporalAddress);
  await sideBySide(signal, (signal) =>
    ownServices(options).map((name) => startService(context, name, environment, signal)),
  );
  return { apiUrl: context.apiUrl, sandboxUrl: context.sandboxUrl, ...engine, ...database };
}

async function startDatabase<Prepared>(
  context: Context<Prepared>,
  signal: AbortSignal,
): Promise<Pick<Stack<Prepared>, 'databaseUrl' | 'prepared'>> {
  const databaseUrl = context.config.DATABASE_URL ?? (await startPostgres(context, signal));
  return { databaseUrl, prepared: await context.prepareDatabase({ ...context, databaseUrl }) };
}

async function startPostgres(
  { config, home, progress, supervisor }: Context<unknown>,
  signal: AbortSignal,
): Promise<string> {
  return progress.during('PostgreSQL', async () => {
    const logFile = path.join(home.logs, 'postgres.log');
    const cluster = await PostgresCluster.open({ folder: home.postgres, logFile, port: config.POSTGRES_PORT }, signal);
    await supervisor.start('postgres', (signal) => cluster.start(signal), signal);
    await ensureDatabase(cluster.databaseUrl('postgres'), DATABASE);
    return cluster.databaseUrl(DATABASE);
  });
}

async function startEngine(
  { config, home, progress, supervisor }: Context<unknown>,
  signal: AbortSignal,
): Promise<Pick<Stack<unknown>, 'temporalAddress' | 'temporalUiUrl'>> {
  if (config.TEMPORAL_ADDRESS !== undefined) return { temporalAddress: config.TEMPORAL_ADDRESS, temporalUiUrl: null };
  const binary = await findTemporalCli(config, progress, signal);
  const options = {
    binary,
    port: config.TEMPORAL_PORT,
    uiPort: config.TEMPORAL_UI_PORT,
    namespace: config.TEMPORAL_NAMESPACE,
    databaseFile: home.temporalDatabase,
    logFile: path.join(home.logs, 'temporal.log'),
  };
  await makeFolder(path.dirname(home.temporalDatabase), 0o700);
  await progress.during('Temporal', () =>
    supervisor.start('temporal', (signal) => startTemporal(options, signal), signal),
  );
  return {
    temporalAddress: `${LOOPBACK}:${config.TEMPORAL_PORT}`,
    temporalUiUrl: `http://${LOOPBACK}:${config.TEMPORAL_UI_PORT}`,
  };
}

async function startService(
  { home, progress, supervisor }: Context<unknown>,
  name: LunasServiceName,
  environment: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<void> {
  const options = { name, environment, logFile: path.join(home.logs, `${name}.log`) };
  await progress.during(name, () => supervisor.start(name, (signal) => startLunasService(options, signal), signal));
}

/** The services that are started here. */
function ownServices({ config, services }: Pick<StackOptions<unknown>, 'config' | 'services'>): LunasServiceName[] {
  return services.filter((name) => name !== 'sandbox' || config.SANDBOX_URL === undefined);
}

/** Our own environment, completed with what the embedded services have decided. */
function serviceEnvironment(
  { config, home, masterKey }: Context<unknown>,
  databaseUrl: string,
  temporalAddress: string,
): NodeJS.ProcessEnv {
  return {
    ...process.env,
    LUNAS_HOME: home.folder,
    LUNAS_MASTER_KEY: masterKey,
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporalAddress,
    PORT: String(config.PORT),
    SANDBOX_PORT: String(config.SANDBOX_PORT),
  };
}

/** The ports that a start will listen on, with the variable that sets each. */
export function neededPorts(config: Config, services: readonly LunasServiceName[]): Port[] {
  const own = ownServices({ config, services });
  const embeddedDatabase = config.DATABASE_URL === undefined;
  const embeddedEngine = config.TEMPORAL_ADDRESS === undefined;
  return [
    ...(own.includes('api') ? [{ variable: 'PORT', host: config.HOST, port: config.PORT }] : []),
    ...(own.includes('sandbox') ? [sandboxPort(config.SANDBOX_PORT)] : []),
    ...(embeddedDatabase ? [{ variable: 'POSTGRES_PORT', host: LOOPBACK, port: config.POSTGRES_PORT }] : []),
    ...(embeddedEngine ? [{ variable: 'TEMPORAL_PORT', host: LOOPBACK, port: config.TEMPORAL_PORT }] : []),
    ...(embeddedEngine ? [{ variable: 'TEMPORAL_UI_PORT', host: LOOPBACK, port: config.TEMPORAL_UI_PORT }] : []),
  ];
}

function sandboxPort(port: number): Port {
  const hint = `To use a sandbox that runs there, set SANDBOX_URL=http://${LOOPBACK}:${port}.`;
  return { variable: 'SANDBOX_PORT', host: LOOPBACK, port, hint };
}

function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return LOOPBACK;
  return host.includes(':') ? `[${host}]` : host;
}
