import { rmSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { dashboardPortOf, dashboardUrlOf, operatorPortOf } from '../src/config';
import { migrate } from '../src/db/connection/migrate';
import { createPool, type Pool } from '../src/db/connection/pool';
import { onlyRow } from '../src/db/connection/require-row';
import { pollUntil } from '../src/lib/poll-until';
import { startChildService, type ChildServiceName } from '../src/local-stack/child-service';
import {
  dataDirectoryAt,
  lockDataDirectory,
  unlockDataDirectory,
  type DataDirectory,
} from '../src/local-stack/data-directory';
import { loginUrl } from '../src/local-stack/database-logins';
import { loadLocalStackConfig, type LocalStackConfig } from '../src/local-stack/local-stack-config';
import { launch } from '../src/local-stack/managed-process';
import { freePort } from '../src/local-stack/ports';
import { Progress } from '../src/local-stack/progress';
import { startStack, STOP_ORDER, type DatabaseAccess, type Stack } from '../src/local-stack/stack';
import { Supervisor } from '../src/local-stack/supervisor';
import { PACKAGE_ROOT } from '../src/package-info';
import { SANDBOX_SERVER_KEY } from '../src/sandbox/acquirers';
import { setPolicy } from '../src/services/provider-accounts/catalog';
import { seedDemo, type Demo } from '../src/services/sandbox/seed-demo';
import { createTemporalSchema, startPostgresTemporal } from '../test/support/postgres-temporal';
import type { Processes } from './meter';
import { startBenchmarkReceiver, type BenchmarkReceiver } from './receiver';

/** Requests are counted, and none is rejected. */
const RATE_LIMIT_PER_MINUTE = '1000000';
/** For two bulks of one merchant. */
const MAX_CREATES_IN_FLIGHT = '160';
/** The bare lifecycle has the same. */
export const SETTLEMENT_DELAY_SECONDS = 1;
const START_TIMEOUT_MS = 60_000;

/** Processes of the benchmark, beside those of `STOP_ORDER`. */
const OTHERS = ['noop', 'bare', 'poster'] as const;
type OtherName = (typeof OTHERS)[number];

export interface BenchmarkHarnessOptions {
  /** Starts a Temporal server with PostgreSQL persistence instead of the dev server. */
  readonly postgresTemporal?: boolean;
  /** Replaces the command of Temporal's dev server. */
  readonly temporalCommand?: string;
  /** Added to the environment of a service. */
  readonly environment?: { readonly [Name in ChildServiceName]?: NodeJS.ProcessEnv };
}

/** Removed at the exit, also if the benchmark is interrupted. */
const directories = new Set<string>();
process.once('exit', () => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

/** The measured processes, with new databases in a temporary directory. */
export class BenchmarkHarness {
  private constructor(
    readonly directory: string,
    private readonly home: DataDirectory,
    private readonly options: BenchmarkHarnessOptions,
    readonly config: LocalStackConfig,
    private readonly supervisor: Supervisor,
    readonly stack: Stack<Demo>,
    readonly masterKey: string,
    readonly db: Pool,
    readonly receiver: BenchmarkReceiver,
  ) {}

  /** Starts PostgreSQL, Temporal, sandbox, API and worker as `lunas up` does, and a receiver. */
  static async start(options: BenchmarkHarnessOptions = {}): Promise<BenchmarkHarness> {
    const directory = await mkdtemp(path.join(os.tmpdir(), 'lunas-bench-'));
    directories.add(directory);
    // If root starts PostgreSQL, it runs as the OS user `nobody`, which needs access.
    await chmod(directory, 0o711);
    const temporalPort = await freePort();
    const config = loadLocalStackConfig({
      ...process.env,
      LUNAS_HOME: path.join(directory, 'home'),
      PORT: String(await freePort()),
      OPERATOR_PORT: String(await freePort()),
      DASHBOARD_PORT: String(await freePort()),
      SANDBOX_PORT: String(await freePort()),
      POSTGRES_PORT: String(await freePort()),
      TEMPORAL_PORT: String(temporalPort),
      TEMPORAL_UI_PORT: String(await freePort()),
      ...(options.postgresTemporal === true && { TEMPORAL_ADDRESS: `127.0.0.1:${temporalPort}` }),
      ...(options.temporalCommand !== undefined && { TEMPORAL_CLI_PATH: options.temporalCommand }),
    });
    const home = dataDirectoryAt(config.LUNAS_HOME);
    const progress = new Progress();
    const supervisor = new Supervisor((line) => progress.log(line));
    await lockDataDirectory(home);
    let masterKey = '';
    const prepareDatabase = async (access: DatabaseAccess): Promise<Demo> => {
      ({ masterKey } = access);
      return prepare(access);
    };
    const signal = new AbortController().signal;
    try {
      const stack = await startStack(
        { config, dataDirectory: home, services: ['sandbox'], prepareDatabase, progress, supervisor },
        signal,
      );
      const db = createPool(stack.databaseUrl, { max: 4 });
      const harness = new BenchmarkHarness(
        directory,
        home,
        options,
        config,
        supervisor,
        stack,
        masterKey,
        db,
        await startBenchmarkReceiver(),
      );
      if (options.postgresTemporal === true) await harness.startPostgresTemporal();
      await harness.startService('api');
      await harness.startService('worker');
      return harness;
    } catch (error) {
      await supervisor.stopAll(STOP_ORDER);
      await unlockDataDirectory(home);
      throw error;
    }
  }

  get keepsTemporalInPostgres(): boolean {
    return this.options.postgresTemporal === true;
  }

  get temporalDatabase(): string {
    return this.home.temporalDatabase;
  }

  readonly processes: Processes = () =>
    Object.fromEntries([...STOP_ORDER, ...OTHERS].map((name) => [name, this.supervisor.pid(name)]));

  /** Starts a process of the benchmark. Resolves when the process reports that it is ready. */
  async startOther(name: OtherName, script: string, environment: NodeJS.ProcessEnv): Promise<void> {
    const logFile = path.join(this.home.logs, `${name}.log`);
    await this.supervisor.start(
      name,
      async (signal) => {
        const running = await launch({
          command: process.execPath,
          args: [path.join(PACKAGE_ROOT, script)],
          env: { ...process.env, TEMPORAL_ADDRESS: this.stack.temporalAddress, ...environment },
          logFile,
          ipc: true,
          stopSignals: [{ signal: 'SIGTERM', graceMs: 5_000 }],
        });
        const isReady = async (): Promise<true | undefined> => {
          if (!running.running) throw new Error(`${name} ended at its start: ${await running.lastLogLines()}`);
          return running.ready ? true : undefined;
        };
        await pollUntil(`${name} is ready (log: ${logFile})`, isReady, { timeoutMs: START_TIMEOUT_MS, signal });
        return running;
      },
      new AbortController().signal,
    );
  }

  /** With the rights of its database role, which reads by row-level policies. @returns its address */
  async startDashboard(): Promise<string> {
    const DATABASE_URL = loginUrl(this.stack.databaseUrl, 'lunas_local_dashboard');
    await this.startService('dashboard', { DATABASE_URL });
    return dashboardUrlOf(this.config);
  }

  /** What the payments of the demo refer to. */
  async readCatalog(): Promise<{ readonly policyId: string; readonly accountId: string }> {
    const { rows } = await this.db.query<{ policyId: string; accountId: string }>(
      `select policies.id as "policyId", account.id as "accountId"
       from policies, provider_accounts account
       where policies.provider = 'gopay' and account.provider = 'gopay' limit 1`,
    );
    return onlyRow(rows);
  }

  async close(): Promise<void> {
    await this.supervisor.stopAll([...OTHERS, ...STOP_ORDER.slice(0, 2)]);
    await Promise.all([this.db.end(), this.receiver.close()]);
    await this.supervisor.stopAll(STOP_ORDER);
    await unlockDataDirectory(this.home);
    await rm(this.directory, { recursive: true, force: true });
    directories.delete(this.directory);
  }

  private async startPostgresTemporal(): Promise<void> {
    const signal = new AbortController().signal;
    const { databaseUrl } = this.stack;
    await createTemporalSchema(databaseUrl, signal);
    const options = {
      directory: path.join(this.directory, 'temporal'),
      logFile: path.join(this.home.logs, 'temporal.log'),
      port: this.config.TEMPORAL_PORT,
      databaseUrl,
    };
    await this.supervisor.start('temporal', (signal) => startPostgresTemporal(options, signal), signal);
  }

  private async startService(name: ChildServiceName, environment: NodeJS.ProcessEnv = {}): Promise<void> {
    const { config, stack, home } = this;
    const options = {
      name,
      environment: {
        ...process.env,
        LUNAS_HOME: home.path,
        LUNAS_MASTER_KEY: this.masterKey,
        LUNAS_ENVIRONMENT: 'sandbox',
        DATABASE_URL: stack.databaseUrl,
        TEMPORAL_ADDRESS: stack.temporalAddress,
        PORT: String(config.PORT),
        OPERATOR_PORT: String(operatorPortOf(config)),
        DASHBOARD_PORT: String(dashboardPortOf(config)),
        SANDBOX_PORT: String(config.SANDBOX_PORT),
        RATE_LIMIT_PER_MINUTE,
        PUBLIC_RATE_LIMIT_PER_SECOND: RATE_LIMIT_PER_MINUTE,
        MAX_CONNECTIONS_PER_CLIENT: '1000000',
        MAX_CREATES_IN_FLIGHT,
        ...this.options.environment?.[name],
        ...environment,
      },
      logFile: path.join(home.logs, `${name}.log`),
    };
    const signal = new AbortController().signal;
    await this.supervisor.start(name, (signal) => startChildService(options, signal), signal);
  }
}

async function prepare({ databaseUrl, masterKey, sandboxUrl }: DatabaseAccess): Promise<Demo> {
  await migrate(databaseUrl, 'sandbox');
  const demo = await seedDemo({ databaseUrl, masterKey, sandboxUrl, sandboxServerKey: SANDBOX_SERVER_KEY });
  const db = createPool(databaseUrl, { max: 1 });
  const delay = { settlementDelaySeconds: SETTLEMENT_DELAY_SECONDS, expiresInSeconds: 86_400 };
  for (const provider of ['gopay', 'shopeepay'] as const) await setPolicy(db, { provider, channel: 'qris', ...delay });
  await db.end();
  return demo;
}
