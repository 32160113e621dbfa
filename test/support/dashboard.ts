import type { BrowserContext } from 'playwright-core';
import type { Environment } from '../../src/config';
import { freePort } from '../../src/local-stack/ports';
import { createLogger } from '../../src/observability/logger';
import { startDashboard } from '../../src/servers/dashboard-server';
import { createDevelopmentLink } from '../../src/services/identity/sessions';
import { signIn } from './people';
import { NO_LIMITS, type TestService } from './service';

export interface TestDashboard {
  readonly url: string;
  /** The name of the session cookie. */
  readonly cookieName: string;
  /** A new link that signs a user in. */
  link(email: string): Promise<string>;
  /** The header `Cookie` of a new session. */
  cookie(email: string): Promise<string>;
  /** Signs a browser in. */
  signIn(context: BrowserContext, email: string): Promise<void>;
  /** A new process would serve the same address. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** A dashboard in this process, with the rights of its database role. */
export async function startTestDashboard(
  service: Pick<TestService, 'apiUrl' | 'dashboardDatabaseUrl' | 'db' | 'masterKey' | 'temporal'>,
  /** Production requires a second factor. */
  environment: Environment = 'sandbox',
  log = createLogger('test', process.env.LOG_LEVEL ?? 'silent'),
): Promise<TestDashboard> {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const cookieName = `lunas_dashboard_${port}`;
  const start = () =>
    startDashboard({
      ...NO_LIMITS,
      host: '127.0.0.1',
      port,
      dashboardUrl: url,
      publicBaseUrl: service.apiUrl,
      databaseUrl: service.dashboardDatabaseUrl,
      masterKey: service.masterKey,
      environment,
      accessCheckMs: 1_000,
      temporal: service.temporal,
      log,
    });
  let dashboard = await start();
  const tokenOf = async (email: string) => (await signIn(service.db, email)).token;
  return {
    url,
    cookieName,
    async link(email) {
      const link = { realm: 'merchant', email, createdBy: 'cli:test' } as const;
      return `${url}/start/${await createDevelopmentLink(service.db, link, new Date())}`;
    },
    cookie: async (email) => `${cookieName}=${await tokenOf(email)}`,
    async signIn(context, email) {
      await context.addCookies([{ name: cookieName, value: await tokenOf(email), url }]);
    },
    async restart() {
      await dashboard.close();
      dashboard = await start();
    },
    close: () => dashboard.close(),
  };
}
