import type { Command } from 'commander';
import { metricsAddressOf, operatorPortOf } from '../../config';
import { requireInstallation } from '../rules/require-installation';
import { runService } from '../service-process';

export function defineApi(api: Command): void {
  api.action(() =>
    runService('api', async (log, context) => {
      const databaseUrl = await context.databaseUrl();
      const environment = await requireInstallation(context, 'api', log);
      const { oldMasterKeys } = context;
      const masterKey = await context.masterKey();
      const { startApi } = await import('../../servers/api-server.js');
      const { HOST: host, PORT: port, TRUST_PROXY: trustProxy, RATE_LIMIT_PER_MINUTE } = context.config;
      const { MERCHANT_RATE_LIMIT_PER_MINUTE: merchantRequestsPerMinute } = context.config;
      const { PUBLIC_RATE_LIMIT_PER_SECOND, MAX_CONNECTIONS: maxConnections } = context.config;
      return startApi({
        host,
        port,
        operatorHost: context.config.OPERATOR_HOST,
        operatorPort: operatorPortOf(context.config),
        publicBaseUrl: context.publicBaseUrl(),
        ...(environment === 'sandbox' && { sandboxUrl: await context.sandboxUrl() }),
        databaseUrl,
        temporal: await context.temporal(),
        masterKey,
        oldMasterKeys,
        environment,
        ...(trustProxy !== undefined && { trustProxy }),
        requestsPerMinute: RATE_LIMIT_PER_MINUTE,
        publicRequestsPerSecond: PUBLIC_RATE_LIMIT_PER_SECOND,
        maxConnections,
        maxConnectionsPerClient: context.config.MAX_CONNECTIONS_PER_CLIENT,
        databasePoolSize: context.config.DATABASE_POOL_SIZE,
        drainSeconds: context.config.DRAIN_SECONDS,
        maxCreatesInFlight: context.config.MAX_CREATES_IN_FLIGHT,
        requestLogRows: context.config.REQUEST_LOG_ROWS,
        metrics: metricsAddressOf(context.config),
        ...(merchantRequestsPerMinute !== undefined && { merchantRequestsPerMinute }),
        log,
      });
    }),
  );
}
