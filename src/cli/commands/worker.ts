import path from 'node:path';
import type { Command } from 'commander';
import { PACKAGE_ROOT } from '../../package-info';
import { requireSchema } from '../require-schema';
import { runService } from '../service-process';

const WORKFLOW_BUNDLE = path.join(PACKAGE_ROOT, 'dist', 'workflow-bundle.js');

export function addWorkerCommand(program: Command): void {
  program
    .command('worker')
    .description('run the worker: workflows, activities and the webhook relay')
    .action(() =>
      runService('worker', async (log, context) => {
        const databaseUrl = await context.databaseUrl();
        await requireSchema(databaseUrl, log);
        const { startWorker } = await import('../../temporal/worker.js');
        return startWorker({
          databaseUrl,
          temporal: await context.temporal(),
          masterKey: await context.masterKey(),
          environment: context.config.LUNAS_ENVIRONMENT,
          webhookAllowedNetworks: context.config.WEBHOOK_ALLOWED_NETWORKS,
          publicBaseUrl: context.publicBaseUrl(),
          refundHoldSeconds: context.config.REFUND_HOLD_SECONDS,
          isRecovering: context.config.LUNAS_RECOVERY_MODE === 'true',
          metricsPort: context.config.METRICS_PORT,
          workflowBundlePath: WORKFLOW_BUNDLE,
          log,
          // An uncaught exception ends the process; its supervisor starts it again.
          onFailure: (error) => {
            throw error;
          },
        });
      }),
    );
}
