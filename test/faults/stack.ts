import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Pool } from '../../src/db/connection/pool';
import { loginUrl } from '../../src/local-stack/database-logins';
import type { ManagedProcess } from '../../src/local-stack/managed-process';
import { ensureDatabase } from '../../src/local-stack/postgres';
import { startTemporal, type TemporalOptions } from '../../src/local-stack/temporal';
import type { Sandbox } from '../../src/sandbox/sandbox';
import { OWN_CLOCK, shiftedClock, withEnvironment } from './clock';
import { WITNESSES, type Victim, type Witness } from './kill-points';
import type { Mutant } from './mutants';
import type { RecordingReceiver } from './receiver';
import { childrenOf, copySqlite, freePorts, killQuietly, openCluster, removeSqlite, startCluster } from './servers';
import { ServiceProcess } from './service-process';
import { apiUrlOf, type FaultSettings } from './settings';
import { prepareParts, REFUND_HOLD_SECONDS, type StackParts } from './stack-parts';

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

const AGAIN_AFTER_MS = 300;
const COMMAND_ATTEMPTS = 3;
const DATABASE = 'lunas';

/**
 * The whole service in processes that can be killed: API, worker, worker of payouts, PostgreSQL, Temporal.
 * The sources of the oracle are never killed: the ledgers of acquirer and bank in another PostgreSQL, and the
 * merchant's server.
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
      payoutsDatabaseUrl: loginUrl(databaseUrl, 'lunas_local_payouts'),
      temporalAddress: `127.0.0.1:${temporalPort}`,
      masterKey,
      apiPort,
      refundHoldSeconds: REFUND_HOLD_SECONDS,
      workflowBundlePath: options.workflowBundlePath,
      forgetfulLedgerUrl: null,
      isBankLate: false,
      mutant: null,
    };
    const parts = await prepareParts(settings, ledgerUrl, options.webhookFails);
    const addresses = { postgresPort, temporal: temporalOptions, ledgerUrl };
    const servers = { postgres: postgres.server, ledger: ledgerServer.server, temporal };
    const stack = new FaultStack(options, addresses, settings, servers, parts);
    await Promise.all(WITNESSES.map((name) => stack.#startService(name)));
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

  get masterKey(): string {
    return this.#settings.masterKey;
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
    if (isService(victim)) {
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
      case 'payouts':
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

  /** Stops a worker (SIGSTOP), and starts another one beside it. */
  async replaceStoppedWorker(name: 'worker' | 'payouts'): Promise<ServiceProcess> {
    const stopped = this.service(name);
    stopped.signal('SIGSTOP');
    await this.#startService(name);
    return stopped;
  }

  /** Deletes Temporal's database. Temporal runs again afterwards. */
  async wipeTemporal(): Promise<void> {
    await this.kill('temporal');
    removeSqlite(this.addresses.temporal.databaseFile);
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

  /** Replaces Temporal's database by the copy of `copyTemporal`. Temporal and new workers run afterwards. */
  async rewindTemporal(): Promise<void> {
    await this.kill('temporal');
    await Promise.all([this.kill('worker'), this.kill('payouts')]);
    const { databaseFile } = this.addresses.temporal;
    copySqlite(`${databaseFile}.copy`, databaseFile);
    await this.revive('temporal');
    await Promise.all([this.revive('worker'), this.revive('payouts')]);
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

  /**
   * Restarts API and workers as a mutant or unbroken, and before one kind of acquirer and bank. `forgetful`: they store
   * no keys and no references. `late`: the bank's status is behind its executions.
   */
  async restartWith(mutant: Mutant | null, providers: 'mindful' | 'forgetful' | 'late' = 'mindful'): Promise<void> {
    const forgetfulLedgerUrl = providers === 'forgetful' ? this.addresses.ledgerUrl : null;
    this.#settings = { ...this.#settings, mutant, forgetfulLedgerUrl, isBankLate: providers === 'late' };
    await this.#setBank(providers === 'forgetful');
    if (mutant === 'commitNotDurable') await this.#makeCommitsSoft();
    await Promise.all(
      WITNESSES.map(async (name) => {
        await this.kill(name);
        await this.revive(name);
      }),
    );
  }

  async #setBank(forgetsReferences: boolean): Promise<void> {
    await fetch(`${this.sandbox.url}/simulator/bank-account`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ forgets_references: forgetsReferences }),
    });
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
          entry: path.join(compiledDirectory, 'test', 'faults', ENTRIES[name]),
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

/** Both workers have the same one, and another name. */
const ENTRIES = {
  api: 'api-entry.js',
  worker: 'worker-entry.js',
  payouts: 'worker-entry.js',
} as const satisfies Record<Witness, string>;

function isService(victim: Victim): victim is Witness {
  return victim in ENTRIES;
}
