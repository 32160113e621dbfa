import type { Command } from 'commander';
import { metricsAddressOf, workerSizesOf, type Config } from '../../config';
import type { RetentionDays } from '../../domain/retention';
import { WORKFLOW_BUNDLE } from '../../package-info';
import { requireInstallation } from '../rules/require-installation';
import { runService } from '../service-process';

export function defineWorker(worker: Command): void {
  worker.action(() =>
    runService('worker', async (log, context) => {
      const databaseUrl = await context.databaseUrl();
      const environment = await requireInstallation(context, 'worker', log);
      const { oldMasterKeys } = context;
      const masterKey = await context.masterKey();
      const { startWorker } = await import('../../servers/worker.js');
      return startWorker({
        databaseUrl,
        temporal: await context.temporal(),
        masterKey,
        oldMasterKeys,
        environment,
        webhookAllowedNetworks: context.config.WEBHOOK_ALLOWED_NETWORKS,
        webhookForbiddenNetworks: context.config.WEBHOOK_FORBIDDEN_NETWORKS,
        publicBaseUrl: context.publicBaseUrl(),
        refundHoldSeconds: context.config.REFUND_HOLD_SECONDS,
        retentionDays: retentionOf(context.config),
        beginsRecovery: context.config.LUNAS_RECOVERY_MODE === 'true',
        metrics: metricsAddressOf(context.config),
        workflowBundlePath: WORKFLOW_BUNDLE,
        hasWorkflowStackTraces: context.config.WORKFLOW_STACK_TRACES === 'true',
        version: versionOf(context.config),
        roles: context.config.WORKER_ROLES,
        sizes: workerSizesOf(context.config),
        log,
        // An uncaught exception ends the process; its supervisor starts it again.
        onFailure: (error) => {
          throw error;
        },
      });
    }),
  );
}

function versionOf({ TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: buildId }: Config) {
  return buildId === undefined ? undefined : { deploymentName, buildId };
}

const SIGN_IN_RETENTION_DAYS = 30;

function retentionOf(config: Config): RetentionDays {
  return {
    webhook_deliveries: config.WEBHOOK_RETENTION_DAYS,
    webhook_events: config.WEBHOOK_RETENTION_DAYS,
    provider_notifications: config.NOTIFICATION_RETENTION_DAYS,
    payment_details: config.CUSTOMER_RETENTION_DAYS,
    // Details are written before their payment. After a day a creation without a payment has failed.
    unused_payment_details: 1,
    // After their end: until then the log of user actions can be compared with them.
    sessions: SIGN_IN_RETENTION_DAYS,
    sign_in_links: SIGN_IN_RETENTION_DAYS,
  };
}
