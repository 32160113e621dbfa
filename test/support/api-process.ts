import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { startChildService } from '../../src/local-stack/child-service';
import { freePort } from '../../src/local-stack/ports';
import type { TestService } from './service';

/** A built command of Lunas in its own process, beside a test service. */
export interface BuiltProcess {
  signal(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void;
  readonly pid: number;
  log(): Promise<string>;
  /** Sends SIGTERM. @returns the exit code, or null if the process was killed */
  stop(): Promise<number | null>;
}

export interface ApiProcess extends BuiltProcess {
  readonly url: string;
  readonly operatorUrl: string;
}

/** It rejects no request for its rate, and has the public URL of the service, so that responses can be compared. */
export async function startApiProcess(service: TestService, changes: NodeJS.ProcessEnv = {}): Promise<ApiProcess> {
  const [port, operatorPort] = [await freePort(), await freePort()];
  const addresses = { HOST: '127.0.0.1', PORT: String(port), OPERATOR_PORT: String(operatorPort) };
  const api = await startProcess('api', service, { ...addresses, ...changes });
  return { ...api, url: `http://127.0.0.1:${port}`, operatorUrl: `http://127.0.0.1:${operatorPort}` };
}

export interface DashboardProcess extends BuiltProcess {
  readonly url: string;
  /** The name of the session cookie. */
  readonly cookieName: string;
}

/** The built `lunas dashboard` with the rights of its database role. Its pages are for the host `localhost`. */
export async function startDashboardProcess(
  service: TestService,
  changes: NodeJS.ProcessEnv = {},
): Promise<DashboardProcess> {
  const port = await freePort();
  const settings = { DASHBOARD_PORT: String(port), DATABASE_URL: service.dashboardDatabaseUrl, ...changes };
  const dashboard = await startProcess('dashboard', service, settings);
  return { ...dashboard, url: `http://localhost:${port}`, cookieName: `lunas_dashboard_${port}` };
}

/** Stop the worker of the service first. */
export function startWorkerProcess(service: TestService, changes: NodeJS.ProcessEnv = {}): Promise<BuiltProcess> {
  return startProcess('worker', service, changes);
}

async function startProcess(
  name: 'api' | 'dashboard' | 'worker',
  service: TestService,
  changes: NodeJS.ProcessEnv,
): Promise<BuiltProcess> {
  const directory = await mkdtemp(path.join(os.tmpdir(), `lunas-${name}-`));
  const logFile = path.join(directory, `${name}.log`);
  const environment = {
    PATH: process.env.PATH,
    PUBLIC_BASE_URL: service.apiUrl,
    DATABASE_URL: service.databaseUrl,
    TEMPORAL_ADDRESS: service.temporal.address,
    TEMPORAL_NAMESPACE: service.temporal.namespace,
    LUNAS_HOME: directory,
    LUNAS_MASTER_KEY: service.masterKey,
    RATE_LIMIT_PER_MINUTE: '1000000',
    MAX_CONNECTIONS_PER_CLIENT: '1000000',
    LOG_LEVEL: 'warn',
    DRAIN_SECONDS: '0',
    ...changes,
  };
  const child = await startChildService({ name, environment, logFile }, new AbortController().signal);
  return {
    signal: (signal) => child.kill(signal),
    pid: child.pid,
    log: () => readFile(logFile, 'utf8'),
    async stop() {
      await child.stop();
      await rm(directory, { recursive: true, force: true });
      return (await child.exited).code;
    },
  };
}
