import type { Client } from '@temporalio/client';
import { loadConfig, type Config, type Environment } from '../config';
import { DerivedKeys } from '../crypto/derived-keys';
import { createSealer, type Sealer } from '../crypto/sealing';
import type { Queryable } from '../db/connection/pool';
import { UserError } from '../errors';
import { dataDirectoryAt, readMasterKey, type DataDirectory } from '../local-stack/data-directory';
import { loadLocalStackConfig, type LocalStackConfig } from '../local-stack/local-stack-config';
import { readRunFile, readSandboxRunFile, type RunFile } from '../local-stack/run-file';
import type { BoundedClient } from '../temporal/bounded-client';
import type { TemporalTarget } from '../temporal/connection';
import type { PayloadKeys } from '../temporal/payload-codec';
import type { PaymentWorkflowClient } from '../temporal/payment-workflow-client';
import type { TemporalAccess } from '../temporal/requirements';
import { requireSealingKeys } from './require-sealing-keys';
import type { Settings } from './rules/settings-rules';

type RunFileAddress = 'database_url' | 'temporal_address';

/** Addresses and secrets of the environment; absent ones are read from a running `lunas up` or `lunas services`. */
export class CommandContext {
  readonly config: Config;
  readonly dataDirectory: DataDirectory;

  /** @throws UserError that names each variable with an invalid value */
  constructor(private readonly variables: NodeJS.ProcessEnv) {
    this.config = loadConfig(variables);
    this.dataDirectory = dataDirectoryAt(this.config.LUNAS_HOME);
  }

  /** @throws UserError that names what to start or to set */
  async databaseUrl(): Promise<string> {
    return this.config.DATABASE_URL ?? this.fromRunFile('database_url', 'DATABASE_URL');
  }

  /** @throws UserError that names what to start or to set */
  async temporal(): Promise<TemporalTarget> {
    const address = this.config.TEMPORAL_ADDRESS ?? (await this.fromRunFile('temporal_address', 'TEMPORAL_ADDRESS'));
    // Imported on demand: Temporal's client takes as long to load as everything else, and few commands need it.
    const { temporalTarget } = await import('../temporal/connection.js');
    return temporalTarget(this.config, address);
  }

  /** `LUNAS_ENVIRONMENT`, else that of the running local stack, a sandbox; undefined if neither is there. */
  async environment(): Promise<Environment | undefined> {
    return this.config.LUNAS_ENVIRONMENT ?? ((await this.runFile()) === null ? undefined : 'sandbox');
  }

  /**
   * What the rules of settings check.
   * @param recordedEnvironment that of the database; undefined if it was not read
   */
  async settings(recordedEnvironment: Settings['recordedEnvironment']): Promise<Settings> {
    const runFile = await this.runFile();
    return {
      config: this.config,
      environment: await this.environment(),
      recordedEnvironment,
      databaseUrl: this.config.DATABASE_URL ?? runFile?.database_url,
      temporalAddress: this.config.TEMPORAL_ADDRESS ?? runFile?.temporal_address,
      publicBaseUrl: this.config.PUBLIC_BASE_URL,
      dashboardUrl: this.config.DASHBOARD_URL,
    };
  }

  /** The API's address for customers and providers. */
  publicBaseUrl(): string {
    const { PUBLIC_BASE_URL, HOST, PORT } = this.config;
    return PUBLIC_BASE_URL ?? `http://${HOST === '0.0.0.0' || HOST === '::' ? 'localhost' : HOST}:${PORT}`;
  }

  /** Where a command calls the API: `PUBLIC_BASE_URL`, else the running local stack, else the default address. */
  async apiUrl(): Promise<string> {
    return this.config.PUBLIC_BASE_URL ?? (await this.runFile())?.api_url ?? this.publicBaseUrl();
  }

  /** The variables of the local stack, which only commands of a sandbox read. @throws UserError as the constructor */
  localStackConfig(): LocalStackConfig {
    return loadLocalStackConfig(this.variables);
  }

  /** From the environment, else of the sandbox that runs on this data directory, else the default address. */
  async sandboxUrl(): Promise<string> {
    const { SANDBOX_URL, SANDBOX_PORT } = this.localStackConfig();
    if (SANDBOX_URL !== undefined) return SANDBOX_URL;
    const runFile = await readSandboxRunFile(this.dataDirectory);
    return runFile?.sandbox_url ?? `http://127.0.0.1:${SANDBOX_PORT}`;
  }

  /** @throws UserError that names what to start or to set */
  async masterKey(): Promise<string> {
    const key = this.config.LUNAS_MASTER_KEY ?? (await readMasterKey(this.dataDirectory));
    if (key !== null) return key;
    throw new UserError(
      `LUNAS_MASTER_KEY is not set and ${this.dataDirectory.path} has none. ` +
        'Start `lunas up` once, or set LUNAS_MASTER_KEY.',
    );
  }

  /** Master keys that only decrypt. */
  get oldMasterKeys(): readonly string[] {
    return this.config.LUNAS_OLD_MASTER_KEYS ?? [];
  }

  /** @throws UserError that names what to start or to set, or the master keys that are missing for this database */
  async sealer(db: Queryable): Promise<Sealer> {
    const sealer = createSealer(await this.masterKey(), this.oldMasterKeys);
    await requireSealingKeys(db, sealer.keys);
    return sealer;
  }

  /** The run file of the running `lunas up` or `lunas services`; null if none is running. */
  runFile(): Promise<RunFile | null> {
    return readRunFile(this.dataDirectory);
  }

  private async fromRunFile(address: RunFileAddress, variable: string): Promise<string> {
    const runFile = await this.runFile();
    if (runFile) return runFile[address];
    throw new UserError(
      `${variable} is not set and no Lunas runs on ${this.dataDirectory.path}. Start \`lunas up\`, or set ${variable}.`,
    );
  }
}

/**
 * Opens a Temporal client for one command and closes it afterwards, also after an error.
 * @throws MissingWorkerError instead of a timeout if no worker polls the task queue
 */
export async function withTemporal<T>(
  context: CommandContext,
  db: Queryable,
  work: (workflows: PaymentWorkflowClient, client: BoundedClient) => Promise<T>,
): Promise<T> {
  const connected = await connectTemporal(context, db);
  const { BoundedClient } = await import('../temporal/bounded-client.js');
  const { PaymentWorkflowClient } = await import('../temporal/payment-workflow-client.js');
  const client = new BoundedClient(connected.client);
  const workflows = new PaymentWorkflowClient(client);
  try {
    return await work(workflows, client);
  } catch (error) {
    const { explainNoResponse } = await import('../temporal/task-queue-polls.js');
    throw await explainNoResponse(client, error);
  } finally {
    await workflows.close();
  }
}

/** A client for one command, which closes its connection, and the keys of its payloads. */
export async function connectTemporal(
  context: CommandContext,
  db: Queryable,
): Promise<{ readonly client: Client; readonly keys: PayloadKeys }> {
  const target = await context.temporal();
  // Imported on demand, like the rest of Temporal's client.
  const { connectClient } = await import('../temporal/connection.js');
  const { payloadKeys } = await import('../temporal/payload-codec.js');
  const keys = payloadKeys(new DerivedKeys(db, await context.sealer(db)));
  return { client: connectClient(target, keys), keys };
}

/** Opens a Temporal client that reads no payloads, and closes it after the work. */
export async function withTemporalAccess<T>(
  target: TemporalTarget,
  work: (access: TemporalAccess) => Promise<T>,
): Promise<T> {
  // Imported on demand, like the rest of Temporal's client.
  const { connectClient } = await import('../temporal/connection.js');
  const { NO_PAYLOAD_KEYS } = await import('../temporal/payload-codec.js');
  const client = connectClient(target, NO_PAYLOAD_KEYS);
  try {
    return await work({ client, target });
  } finally {
    await client.connection.close();
  }
}

/**
 * Opens a Temporal client for calls that have a timeout each.
 * @throws UserError if no connection can be made
 */
export async function withTemporalCalls<T>(
  context: CommandContext,
  work: (client: BoundedClient) => Promise<T>,
): Promise<T> {
  const target = await context.temporal();
  // Imported on demand, like the rest of Temporal's client.
  const { BoundedClient } = await import('../temporal/bounded-client.js');
  const { connectClient } = await import('../temporal/connection.js');
  const { NO_PAYLOAD_KEYS } = await import('../temporal/payload-codec.js');
  const { requireConnection } = await import('../temporal/requirements.js');
  await requireConnection(target);
  const client = new BoundedClient(connectClient(target, NO_PAYLOAD_KEYS));
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}
