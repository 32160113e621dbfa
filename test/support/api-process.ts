import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { startChildService } from '../../src/local-stack/child-service';
import { freePort } from '../../src/local-stack/ports';
import type { TestService } from './service';

/** The built `lunas api` in its own process, beside a test service. */
export interface ApiProcess {
  readonly url: string;
  readonly operatorUrl: string;
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** Sends SIGTERM. @returns the exit code, or null if the process was killed */
  stop(): Promise<number | null>;
}

/** It rejects no request for its rate, and has the public URL of the service, so that responses can be compared. */
export async function startApiProcess(service: TestService): Promise<ApiProcess> {
  const [port, operatorPort] = [await freePort(), await freePort()];
  const directory = await mkdtemp(path.join(os.tmpdir(), 'lunas-api-'));
  const environment = {
    PATH: process.env.PATH,
    HOST: '127.0.0.1',
    PORT: String(port),
    OPERATOR_PORT: String(operatorPort),
    PUBLIC_BASE_URL: service.apiUrl,
    DATABASE_URL: service.databaseUrl,
    TEMPORAL_ADDRESS: service.temporal.address,
    TEMPORAL_NAMESPACE: service.temporal.namespace,
    LUNAS_HOME: directory,
    LUNAS_MASTER_KEY: service.masterKey,
    RATE_LIMIT_PER_MINUTE: '1000000',
    LOG_LEVEL: 'warn',
  };
  const options = { name: 'api', environment, logFile: path.join(directory, 'api.log') } as const;
  const api = await startChildService(options, new AbortController().signal);
  return {
    url: `http://127.0.0.1:${port}`,
    operatorUrl: `http://127.0.0.1:${operatorPort}`,
    signal: (signal) => api.kill(signal),
    async stop() {
      await api.stop();
      await rm(directory, { recursive: true, force: true });
      return (await api.exited).code;
    },
  };
}
