import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { createSealer } from '../../src/crypto/sealing';
import { migrate } from '../../src/db/connection/migrate';
import { createPool, type Pool } from '../../src/db/connection/pool';
import type { ManagedProcess } from '../../src/local-stack/managed-process';
import { freePort } from '../../src/local-stack/ports';
import { ensureDatabase, PostgresCluster } from '../../src/local-stack/postgres';
import { startTemporal, type TemporalOptions } from '../../src/local-stack/temporal';
import { createLogger } from '../../src/observability/logger';
import { SANDBOX_SERVER_KEY } from '../../src/sandbox/acquirers';
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox';
import { setPolicy } from '../../src/services/provider-accounts/catalog';
import { seedDemo } from '../../src/services/sandbox/seed-demo';
import { createEndpoint } from '../../src/services/webhooks/webhook-endpoints';
import { connectClient } from '../../src/temporal/connection';
import { payloadKeysOf } from '../support/payload-keys';
import { OWN_CLOCK, shiftedClock, withEnvironment } from './clock';
import type { Victim, Witness } from './kill-points';
import type { Mutant } from './mutants';
import { startRecordingReceiver, type RecordingReceiver } from './receiver';
import { ServiceProcess } from './service-process';
import { apiUrlOf, type FaultSettings } from './settings';

export interface FaultStackOptions {
  /** Only for this stack. It is removed at the end. */
  readonly directory: string;
  /** The output of `compileTypeScript`. */
  readonly compiledDirectory: string;
  readonly temporalBinary: string;
  readonly workflowBundlePath: string;
  /** Drawn for the first attempt of each delivery. */
  readonly webhookFails: () => boolean;
}

/** Short, so that lifecycles complete. The workload leaves payments of `shopeepay` to expire. */
export const GOPAY_POLICY = {
  provider: 'gopay',
  channel: 'qris',
  settlementDelaySeconds: 1,
  expiresInSeconds: 20,
} as const;
export const SHOPEEPAY_POLICY = {
  provider: 'shopeepay',
  channel: 'qris',
  settlementDelaySeconds: 1,
  expiresInSeconds: 2,
} as const;
export const REFUND_HOLD_SECONDS = 1;

const NOTIFICATION_DELAYS_MS = [500, 1_000, 2_000, 4_000, 8_000, ...Array.from({ length: 20 }, () => 15_000)];
const AGAIN_AFTER_MS = 300;
const COMMAND_ATTEMPTS = 3;
const DATABASE = 'lunas';
/** An SQLite database in WAL mode has these files. */
const SQLITE_SUFFIXES = ['', '-wal', '-shm'] as const;

/** What a stack has besides its processes. */
interface StackParts {
  readonly sandbox: Sandbox;
  readonly receiver: RecordingReceiver;
  readonly db: Pool;
  readonly client: Client;
  readonly merchantId: string;
  readonly secretKey: string;
}

/**
 * The whole service in processes that can be killed: API, worker, PostgreSQL, Temporal.
 * The sources of the oracle are never killed: the acquirer's ledger in another PostgreSQL, and the merchant's server.
 */
export class FaultStack {
  readonly #never = new AbortController().signal;
  readonly #services = new Map<Witness, ServiceProcess>();
  readonly #servers = new Map<'postgres' | 'temporal', ManagedProcess>();
  /** Killed on purpose: `#startAgain` leaves these alone. */
  readonly #down = new Set<Victim>();
  /** Seconds that the clock of a process is ahead of the harness's. */
  readonly #clocks = new Map<Victim, number>();
  #settings: FaultSettings;
  #postgresSettings: Readonly<Record<string, string>> = {};
  #isClosing = false;

  private constructor(
    private readonly options: FaultStackOptions,
    private readonly addresses: {
      readonly postgresPort: number;
      readonly temporal: TemporalOptions & { readonly databaseFile: string };
      readonly ledgerUrl: string;
    },
    settings: FaultSettings,
    private readonly servers: Readonly<Record<'postgres' | 'ledger' | 'temporal', ManagedProcess>>,
    private readonly parts: StackParts,
  ) {
    this.#settings = settings;
    this.#servers.set('postgres', servers.postgres).set('temporal', servers.temporal);
  }

  static async open(options: FaultStackOptions): Promise<FaultStack> {
    const { directory } = options;
    mkdirSync(directory, { recursive: true });
    // If root starts PostgreSQL, it runs as the OS user `nobody`, which needs access.
    chmodSync(directory, 0o711);
    const [postgresPort, ledgerPort, apiPort, temporalPort, uiPort] = await freePorts();
    const temporalOptions = {
      binary: options.temporalBinary,
      port: temporalPort,
      uiPort,
      namespace: 'default',
      databaseFile: path.join(directory, 'temporal.db'),
      logFile: path.join(directory, 'temporal.log'),
    };
    const { signal } = new AbortController();
    const [postgres, ledgerServer, temporal] = await Promise.all([
      openCluster(directory, 'postgres', postgresPort).then((cluster) => startCluster(cluster, signal)),
      openCluster(directory, 'ledger', ledgerPort).then((cluster) => startCluster(cluster, signal)),
      startTemporal(temporalOptions, signal),
    ]);
    await ensureDatabase(postgres.cluster.databaseUrl('postgres'), DATABASE);
    const databaseUrl = postgres.cluster.databaseUrl(DATABASE);
    const ledgerUrl = ledgerServer.cluster.databaseUrl('sandbox');
    const masterKey = randomBytes(32).toString('base64');
    const settings: FaultSettings = {
      databaseUrl,
      temporalAddress: `127.0.0.1:${temporalPort}`,
      masterKey,
      apiPort,
      refundHoldSeconds: REFUND_HOLD_SECONDS,
      workflowBundlePath: options.workflowBundlePath,
      forgetfulLedgerUrl: null,
      mutant: null,
    };
    const parts = await prepareParts(settings, ledgerUrl, options.webhookFails);
    const addresses = { postgresPort, temporal: temporalOptions, ledgerUrl };
    const servers = { postgres: postgres.server, ledger: ledgerServer.server, temporal };
    const stack = new FaultStack(options, addresses, settings, servers, parts);
    await Promise.all([stack.#startService('api'), stack.#startService('worker')]);
    return stack;
  }

  get sandbox(): Sandbox {
    return this.parts.sandbox;
  }

  get receiver(): RecordingReceiver {
    return this.parts.receiver;
  }

  get db(): Pool {
    return this.parts.db;
  }

  get client(): Client {
    return this.parts.client;
  }

  get merchantId(): string {
    return this.parts.merchantId;
  }

  get secretKey(): string {
    return this.parts.secretKey;
  }

  get apiUrl(): string {
    return apiUrlOf(this.#settings);
  }

  /** The acquirer's own database. */
  get ledgerUrl(): string {
    return this.addresses.ledgerUrl;
  }

  get databaseUrl(): string {
    return this.#settings.databaseUrl;
  }

  /** For `lunas` commands beside the stack. */
  get environment(): NodeJS.ProcessEnv {
    const { databaseUrl, temporalAddress, masterKey } = this.#settings;
    return {
      PATH: process.env.PATH,
      ...OWN_CLOCK,
      DATABASE_URL: databaseUrl,
      TEMPORAL_ADDRESS: temporalAddress,
      LUNAS_MASTER_KEY: masterKey,
      LUNAS_HOME: this.options.directory,
    };
  }

  service(name: Witness): ServiceProcess {
    const service = this.#services.get(name);
    if (!service) throw new Error(`There is no ${name}`);
    return service;
  }

  isRunning(server: 'postgres' | 'temporal'): boolean {
    return this.#server(server).running;
  }

  /** Sends SIGKILL, for PostgreSQL to all of its processes. The victim stays down until `revive`. */
  async kill(victim: Victim): Promise<void> {
    this.#down.add(victim);
    if (victim === 'api' || victim === 'worker') {
      const service = this.service(victim);
      service.signal('SIGKILL');
      await service.exited;
      return;
    }
    const server = this.#server(victim);
    const children = childrenOf(server.pid).map(({ pid }) => pid);
    for (const pid of [server.pid, ...children]) killQuietly(pid);
    await server.exited;
  }

  async revive(victim: Victim): Promise<void> {
    switch (victim) {
      case 'api':
      case 'worker':
        await this.#startService(victim);
        break;
      case 'postgres': {
        const cluster = await openCluster(
          this.options.directory,
          'postgres',
          this.addresses.postgresPort,
          this.#postgresSettings,
        );
        const start = () => cluster.start(this.#never);
        this.#servers.set('postgres', await withEnvironment(this.#clockOf('postgres'), start));
        break;
      }
      case 'temporal':
        this.#servers.set('temporal', await startTemporal(this.addresses.temporal, this.#never));
        break;
    }
    this.#down.delete(victim);
  }

  /** Stops the worker (SIGSTOP), and starts another one beside it. */
  async replaceStoppedWorker(): Promise<ServiceProcess> {
    const stopped = this.service('worker');
    stopped.signal('SIGSTOP');
    await this.#startService('worker');
    return stopped;
  }

  /** Deletes Temporal's database. Temporal runs again afterwards. */
  async wipeTemporal(): Promise<void> {
    await this.kill('temporal');
    this.#removeTemporalDatabase();
    await this.revive('temporal');
  }

  /** Restarts PostgreSQL with these settings. `whileDown` gets the directory of its cluster. */
  async restartPostgres(
    settings: Readonly<Record<string, string>>,
    whileDown: (directory: string) => Promise<void> = async () => undefined,
  ): Promise<void> {
    this.#postgresSettings = settings;
    await this.kill('postgres');
    await whileDown(path.join(this.options.directory, 'postgres'));
    await this.revive('postgres');
  }

  /** Restarts the worker or PostgreSQL with a clock that is ahead of the harness's clock. */
  async setClock(victim: 'worker' | 'postgres', offsetSeconds: number): Promise<void> {
    this.#clocks.set(victim, offsetSeconds);
    if (victim === 'worker') this.receiver.senderClockSeconds = offsetSeconds;
    await this.kill(victim);
    await this.revive(victim);
  }

  /** Copies Temporal's database while Temporal is down: the copy is consistent. Temporal runs again afterwards. */
  async copyTemporal(): Promise<void> {
    await this.kill('temporal');
    const { databaseFile } = this.addresses.temporal;
    copySqlite(databaseFile, `${databaseFile}.copy`);
    await this.revive('temporal');
  }

  /** Replaces Temporal's database by the copy of `copyTemporal`. Temporal and a new worker run afterwards. */
  async rewindTemporal(): Promise<void> {
    await this.kill('temporal');
    await this.kill('worker');
    this.#removeTemporalDatabase();
    const { databaseFile } = this.addresses.temporal;
    copySqlite(`${databaseFile}.copy`, databaseFile);
    await this.revive('temporal');
    await this.revive('worker');
  }

  /**
   * Runs a `lunas` command, again if it printed nothing: Temporal may need longer than a call may take after a fault.
   * @returns the JSON that it printed, also if it failed
   */
  async runLunas(...args: readonly string[]): Promise<unknown> {
    const command = path.join(this.options.compiledDirectory, 'src', 'cli', 'lunas.js');
    for (let attemptsLeft = COMMAND_ATTEMPTS - 1; ; attemptsLeft -= 1) {
      const child = spawn(process.execPath, [command, ...args, '--json'], {
        env: this.environment,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [printed] = await Promise.all([text(child.stdout), once(child, 'close')]);
      if (printed !== '' || attemptsLeft === 0) return JSON.parse(printed);
    }
  }

  /** Restarts the API and the worker as a mutant or unbroken, and before one kind of acquirer. */
  async restartWith(mutant: Mutant | null, acquirer: 'mindful' | 'forgetful' = 'mindful'): Promise<void> {
    const forgetfulLedgerUrl = acquirer === 'forgetful' ? this.addresses.ledgerUrl : null;
    this.#settings = { ...this.#settings, mutant, forgetfulLedgerUrl };
    if (mutant === 'commitNotDurable') await this.#makeCommitsSoft();
    for (const victim of ['api', 'worker'] as const) {
      await this.kill(victim);
      await this.revive(victim);
    }
  }

  /** PostgreSQL acknowledges before it writes, and its WAL writer is stopped. The stack cannot be used afterwards. */
  async #makeCommitsSoft(): Promise<void> {
    await this.restartPostgres({ synchronous_commit: 'off' });
    for (const { pid, command } of childrenOf(this.#server('postgres').pid)) {
      if (command.includes('walwriter')) process.kill(pid, 'SIGSTOP');
    }
  }

  /** Ends all leases of deliveries, as if 30 s had passed. */
  async letLeasesRunOut(): Promise<void> {
    await this.db.query(`update webhook_deliveries set leased_until = now()
      where status = 'pending' and retry_workflow_started_at is null and leased_until > now()`);
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    for (const service of this.#services.values()) service.signal('SIGKILL');
    await Promise.all([...this.#services.values()].map((service) => service.exited));
    await this.sandbox.close();
    await Promise.all([this.receiver.close(), this.client.connection.close(), this.db.end()]);
    await Promise.all([...this.#servers.values(), this.servers.ledger].map((server) => server.stop()));
  }

  #clockOf(victim: Victim): NodeJS.ProcessEnv {
    const offsetSeconds = this.#clocks.get(victim);
    return offsetSeconds === undefined ? OWN_CLOCK : shiftedClock(offsetSeconds);
  }

  #removeTemporalDatabase(): void {
    const { databaseFile } = this.addresses.temporal;
    for (const suffix of SQLITE_SUFFIXES) rmSync(`${databaseFile}${suffix}`, { force: true });
  }

  #server(name: 'postgres' | 'temporal'): ManagedProcess {
    const server = this.#servers.get(name);
    if (!server) throw new Error(`There is no ${name}`);
    return server;
  }

  /** Repeats the start, because a dependency may be down. A service that ends by itself is started again. */
  async #startService(name: Witness): Promise<void> {
    const { compiledDirectory, directory } = this.options;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const service = await ServiceProcess.start({
          name,
          entry: path.join(compiledDirectory, 'test', 'faults', `${name}-entry.js`),
          settings: this.#settings,
          environment: this.#clockOf(name),
          logFile: path.join(directory, `${name}.log`),
        });
        this.#services.set(name, service);
        void service.exited.then(() => this.#startAgain(name, service));
        return;
      } catch (error) {
        if (attempt === 20) throw error;
        await sleep(AGAIN_AFTER_MS);
      }
    }
  }

  async #startAgain(name: Witness, exited: ServiceProcess): Promise<void> {
    if (this.#isClosing || this.#down.has(name) || this.#services.get(name) !== exited) return;
    await this.#startService(name);
  }
}

async function startCluster(
  cluster: PostgresCluster,
  signal: AbortSignal,
): Promise<{ readonly cluster: PostgresCluster; readonly server: ManagedProcess }> {
  return { cluster, server: await cluster.start(signal) };
}

/** Migrates and fills the database, and starts what runs in this process. */
async function prepareParts(
  { databaseUrl, masterKey, temporalAddress }: FaultSettings,
  ledgerUrl: string,
  webhookFails: () => boolean,
): Promise<StackParts> {
  await migrate(databaseUrl, 'sandbox');
  const sandbox = await startSandbox({
    port: 0,
    host: '127.0.0.1',
    databaseUrl: ledgerUrl,
    log: createLogger('sandbox', 'silent'),
    notificationDelaysMs: NOTIFICATION_DELAYS_MS,
  });
  const sandboxAccess = { sandboxUrl: sandbox.url, sandboxServerKey: SANDBOX_SERVER_KEY };
  const { merchantId, secretKey } = await seedDemo({ databaseUrl, masterKey, ...sandboxAccess });
  const db = createPool(databaseUrl, { max: 4, connectionTimeoutMs: 10_000 });
  for (const policy of [GOPAY_POLICY, SHOPEEPAY_POLICY]) await setPolicy(db, policy);
  const receiver = await startRecordingReceiver(webhookFails);
  const endpoint = { merchantId, url: receiver.url, events: [], environment: 'sandbox' } as const;
  receiver.secret = (await createEndpoint(db, createSealer(masterKey), endpoint)).secret;
  const target = { address: temporalAddress, namespace: 'default', security: {} };
  const client = connectClient(target, payloadKeysOf(masterKey));
  return { sandbox, receiver, db, client, merchantId, secretKey };
}

function copySqlite(from: string, to: string): void {
  for (const suffix of SQLITE_SUFFIXES) {
    rmSync(`${to}${suffix}`, { force: true });
    if (existsSync(`${from}${suffix}`)) cpSync(`${from}${suffix}`, `${to}${suffix}`);
  }
}

function openCluster(
  directory: string,
  name: string,
  port: number,
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresCluster> {
  const files = { directory: path.join(directory, name), logFile: path.join(directory, `${name}.log`) };
  return PostgresCluster.open({ ...files, port, settings }, new AbortController().signal);
}

async function freePorts(): Promise<[number, number, number, number, number]> {
  const ports = new Set<number>();
  while (ports.size < 5) ports.add(await freePort());
  const [a = 0, b = 0, c = 0, d = 0, e = 0] = ports;
  return [a, b, c, d, e];
}

function childrenOf(parent: number): { readonly pid: number; readonly command: string }[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' }).trim().split('\n');
  return lines.flatMap((line) => {
    const [, pid, parentPid, command = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return Number(parentPid) === parent ? [{ pid: Number(pid), command }] : [];
  });
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process is already gone.
  }
}
