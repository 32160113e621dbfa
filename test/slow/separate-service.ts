import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Client } from '@temporalio/client';
import { createPool, type Pool } from '../../src/db/connection/pool';
import { startChildService, type ChildServiceName } from '../../src/local-stack/child-service';
import { dataDirectoryAt, readMasterKey } from '../../src/local-stack/data-directory';
import type { ManagedProcess } from '../../src/local-stack/managed-process';
import type { RunFile } from '../../src/local-stack/run-file';
import { connectClient } from '../../src/temporal/connection';
import { freePorts, LUNAS, LunasProcess } from '../support/lunas-process';
import { payloadKeysOf } from '../support/payload-keys';
import { testEnvironment } from '../support/test-environment';

const COMMAND_TIMEOUT_MS = 60_000;
const run = promisify(execFile);

interface LunasResult {
  readonly exitCode: number;
  /** The JSON document of stdout, or undefined. */
  readonly json: unknown;
  readonly stderr: string;
}

/**
 * Lunas as an operator runs it with the built commands: `lunas services`, `lunas api` and `lunas worker` are processes.
 * The acquirer's ledger belongs to a `lunas sandbox` with its own `LUNAS_HOME`, so it is not restored with the rest.
 */
export class SeparateService {
  readonly #processes = new Map<ChildServiceName, ManagedProcess>();
  #services: LunasProcess | undefined;
  #run: RunFile | undefined;
  #db: Pool | undefined;
  #client: Client | undefined;

  private constructor(
    private readonly directory: string,
    private readonly environment: NodeJS.ProcessEnv,
    readonly sandbox: { readonly url: string },
  ) {}

  /** @param others addresses of servers that `lunas services` does not start */
  static async open(others: NodeJS.ProcessEnv = {}): Promise<SeparateService> {
    const directory = await mkdtemp(path.join(os.tmpdir(), 'lunas-test-'));
    const ports = await freePorts();
    const sandbox = { url: `http://127.0.0.1:${ports['SANDBOX_PORT']}` };
    const environment = {
      PATH: process.env.PATH,
      LUNAS_HOME: path.join(directory, 'lunas'),
      TEMPORAL_CLI_PATH: testEnvironment('TEMPORAL_CLI_PATH'),
      LOG_LEVEL: 'warn',
      DRAIN_SECONDS: '0',
      REFUND_HOLD_SECONDS: '1',
      RATE_LIMIT_PER_MINUTE: '1000000',
      MAX_CONNECTIONS_PER_CLIENT: '1000000',
      ...ports,
    };
    const service = new SeparateService(directory, { ...environment, ...others }, sandbox);
    const nowhere = Object.fromEntries(Object.keys(others).map((name) => [name, '']));
    await service.start('sandbox', { LUNAS_HOME: path.join(directory, 'sandbox'), ...nowhere });
    return service;
  }

  get run(): RunFile {
    return existing(this.#run);
  }

  get db(): Pool {
    return existing(this.#db);
  }

  get client(): Client {
    return existing(this.#client);
  }

  async startServices(): Promise<void> {
    this.#services = new LunasProcess('services', this.#home.path, {
      ...this.environment,
      SANDBOX_URL: this.sandbox.url,
    });
    this.#run = await this.#services.ready();
    this.#db = createPool(this.run.database_url, { max: 2 });
    const target = { address: this.run.temporal_address, namespace: 'default', security: {} };
    this.#client = connectClient(target, payloadKeysOf((await readMasterKey(this.#home)) ?? ''));
  }

  async stopServices(): Promise<void> {
    await Promise.all([this.#db?.end(), this.#client?.connection.close()]);
    await this.#services?.stop();
    [this.#db, this.#client, this.#services] = [undefined, undefined, undefined];
  }

  async start(name: ChildServiceName, environment: NodeJS.ProcessEnv = {}): Promise<void> {
    const options = {
      name,
      environment: { ...this.environment, ...environment },
      logFile: path.join(this.directory, `${name}.log`),
    };
    this.#processes.set(name, await startChildService(options, new AbortController().signal));
  }

  /** The id of a running process. */
  pid(name: ChildServiceName): number {
    return existing(this.#processes.get(name)).pid;
  }

  async stop(...names: readonly ChildServiceName[]): Promise<void> {
    await Promise.all(names.map(async (name) => this.#processes.get(name)?.stop()));
  }

  async stopAll(): Promise<void> {
    await this.stop('api', 'worker');
    await this.stopServices();
    await this.stop('sandbox');
    await rm(this.directory, { recursive: true, force: true });
  }

  /** Makes a base backup. PostgreSQL has to be stopped. */
  async backUpPostgres(): Promise<void> {
    await run('cp', ['-a', this.#home.postgres, this.#backup]);
  }

  /** Restores the base backup. PostgreSQL has to be stopped. */
  async restorePostgres(): Promise<void> {
    await run('rm', ['-r', this.#home.postgres]);
    await run('cp', ['-a', this.#backup, this.#home.postgres]);
  }

  /** The environment of the service, for commands. */
  get commandEnvironment(): NodeJS.ProcessEnv {
    return this.environment;
  }

  /** Runs a command in the environment of the service. */
  async command(args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<LunasResult> {
    const options = { env: { ...this.commandEnvironment, ...environment }, timeout: COMMAND_TIMEOUT_MS };
    const child = run(process.execPath, [LUNAS, ...args, '--json'], options);
    const { stdout, stderr } = await child.catch(
      (error: { readonly stdout: string; readonly stderr: string }) => error,
    );
    return { exitCode: child.child.exitCode ?? -1, json: stdout === '' ? undefined : JSON.parse(stdout), stderr };
  }

  get #home() {
    return dataDirectoryAt(path.join(this.directory, 'lunas'));
  }

  get #backup(): string {
    return path.join(this.directory, 'backup');
  }
}

function existing<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('`lunas services` does not run');
  return value;
}
