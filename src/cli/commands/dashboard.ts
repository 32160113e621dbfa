import type { Command } from 'commander';
import { dashboardPortOf, dashboardUrlOf, metricsAddressOf } from '../../config';
import { requireInstallation } from '../rules/require-installation';
import { runService } from '../service-process';

const EXPLANATION = `
It listens on DASHBOARD_HOST and DASHBOARD_PORT, and serves only requests for the host of DASHBOARD_URL, which in
production is https and not the host of PUBLIC_BASE_URL. DATABASE_URL has a login role of lunas_dashboard alone.
METRICS_PORT, DATABASE_POOL_SIZE, MAX_CONNECTIONS, TRUST_PROXY and DRAIN_SECONDS have the meaning that they have for
\`lunas api\`. /healthz and /readyz are its probes. \`lunas doctor\` checks these settings.`;

export function defineDashboard(dashboard: Command): void {
  dashboard.addHelpText('after', EXPLANATION).action(() =>
    runService('dashboard', async (log, context) => {
      const databaseUrl = await context.databaseUrl();
      const environment = await requireInstallation(context, 'dashboard', log);
      const { config, oldMasterKeys } = context;
      const masterKey = await context.masterKey();
      const { startDashboard } = await import('../../servers/dashboard-server.js');
      return startDashboard({
        host: config.DASHBOARD_HOST,
        port: dashboardPortOf(config),
        dashboardUrl: dashboardUrlOf(config),
        publicBaseUrl: context.publicBaseUrl(),
        databaseUrl,
        temporal: await context.temporal(),
        masterKey,
        oldMasterKeys,
        environment,
        webhookAllowedNetworks: config.WEBHOOK_ALLOWED_NETWORKS,
        webhookForbiddenNetworks: config.WEBHOOK_FORBIDDEN_NETWORKS,
        ...(config.TRUST_PROXY !== undefined && { trustProxy: config.TRUST_PROXY }),
        requestsPerMinute: config.RATE_LIMIT_PER_MINUTE,
        ...(config.MERCHANT_RATE_LIMIT_PER_MINUTE !== undefined && {
          merchantRequestsPerMinute: config.MERCHANT_RATE_LIMIT_PER_MINUTE,
        }),
        publicRequestsPerSecond: config.PUBLIC_RATE_LIMIT_PER_SECOND,
        maxConnections: config.MAX_CONNECTIONS,
        maxConnectionsPerClient: config.MAX_CONNECTIONS_PER_CLIENT,
        databasePoolSize: config.DATABASE_POOL_SIZE,
        drainSeconds: config.DRAIN_SECONDS,
        maxCreatesInFlight: config.MAX_CREATES_IN_FLIGHT,
        metrics: metricsAddressOf(config),
        log,
      });
    }),
  );
}
