import { type Config, loadConfig, UserError } from '../config';
import { createPool, type Pool } from '../db/pool';
import type { TemporalTarget } from '../engine/connection';
import type { PaymentsEngine } from '../engine/payments-engine';
import { type Home, homeAt, readMasterKey, readRun, readSandboxRun, type Run } from '../embedded/home';
import { createSealer, type Sealer } from '../sealing';
import { explainDatabaseError } from './database-error';

type RunAddress = 'database_url' | 'temporal_address';

/** Where things are: what the environment does not say is known from a running `lunas up` or `lunas services`. */
export class Settings {
  readonly config: Config;
  readonly home: Home;

  /** @throws UserError that names each variable with an unusable value */
  constructor(environment: NodeJS.ProcessEnv) {
    this.config = loadConfig(environment);
    this.home = homeAt(this.config.LUNAS_HOME);
  }

  /** @throws UserError that says what to start or to set */
  async databaseUrl(): Promise<string> {
    return this.config.DATABASE_URL ?? this.fromRun('database_url', 'DATABASE_URL');
  }

  /** @throws UserError that says what to start or to set */
  async temporal(): Promise<TemporalTarget> {
    const address = this.config.TEMPORAL_ADDRESS ?? (await this.fromRun('temporal_address', 'TEMPORAL_ADDRESS'));
    // Loaded late: Temporal's client costs as much time as all else together, and few commands need it.
    const { temporalTarget } = await import('../engine/connection.js');
    return temporalTarget(this.config, address);
  }

  /** Where customers and providers reach the API. */
  publicBaseUrl(): string {
    const { PUBLIC_BASE_URL, HOST, PORT } = this.config;
    return PUBLIC_BASE_URL ?? `http://${HOST === '0.0.0.0' || HOST === '::' ? 'localhost' : HOST}:${PORT}`;
  }

  /** As given, else of what runs on this home, else where `lunas sandbox` would listen. */
  async sandboxUrl(): Promise<string> {
    if (this.config.SANDBOX_URL !== undefined) return this.config.SANDBOX_URL;
    const run = await readSandboxRun(this.home);
    return run?.sandbox_url ?? `http://127.0.0.1:${this.config.SANDBOX_PORT}`;
  }

  /** @throws UserError that says what to start or to set */
  async masterKey(): Promise<string> {
    const key = this.config.LUNAS_MASTER_KEY ?? (await readMasterKey(this.home));
    if (key !== null) return key;
    throw new UserError(
      `LUNAS_MASTER_KEY is not set and ${this.home.folder} keeps none. Start \`lunas up\` once, or set LUNAS_MASTER_KEY.`,
    );
  }

  /** @throws UserError that says what to start or to set */
  async sealer(): Promise<Sealer> {
    return createSealer(await this.masterKey());
  }

  /** What the running `lunas up` or `lunas services` has written; null where none is running. */
  run(): Promise<Run | null> {
    return readRun(this.home);
  }

  private async fromRun(address: RunAddress, variable: string): Promise<string> {
    const run = await this.run();
    if (run) return run[address];
    throw new UserError(
      `${variable} is not set and no Lunas runs on ${this.home.folder}. Start \`lunas up\`, or set ${variable}.`,
    );
  }
}

/** Opens the database for one command and closes it, whatever happens. */
export async function withDatabase<T>(
  settings: Settings,
  work: (db: Pool) => Promise<T>,
  statementTimeoutMs?: number,
): Promise<T> {
  const databaseUrl = await settings.databaseUrl();
  const db = createPool(databaseUrl, { max: 4, ...(statementTimeoutMs !== undefined && { statementTimeoutMs }) });
  try {
    return await work(db);
  } catch (error) {
    throw explainDatabaseError(error, databaseUrl);
  } finally {
    await db.end();
  }
}

/** Opens Temporal for one command and closes it, whatever happens. */
export async function withEngine<T>(settings: Settings, work: (engine: PaymentsEngine) => Promise<T>): Promise<T> {
  const target = await settings.temporal();
  // Loaded late, like the rest of Temporal's client.
  const { connectClient } = await import('../engine/connection.js');
  const { PaymentsEngine } = await import('../engine/payments-engine.js');
  const engine = new PaymentsEngine(connectClient(target));
  try {
    return await work(engine);
  } finally {
    await engine.close();
  }
}
