import path from 'node:path';
import type { Command } from 'commander';
import { PACKAGE_ROOT } from '../../package';
import { requireSchema } from '../require-schema';
import { runService } from '../service-process';
import { Settings } from '../settings';
import type { Terminal } from '../terminal';

const WORKFLOW_BUNDLE = path.join(PACKAGE_ROOT, 'dist', 'workflow-bundle.js');

export function addWorkerCommand(program: Command, terminal: Terminal): void {
  program
    .command('worker')
    .description('run the worker: workflows, activities and the webhook relay')
    .action(async () => {
      await runService('worker', async (log) => {
        const settings = new Settings(terminal.environment);
        const databaseUrl = await settings.databaseUrl();
        await requireSchema(databaseUrl, log);
        const { startWorker } = await import('../../engine/worker.js');
        return startWorker({
          databaseUrl,
          temporal: await settings.temporal(),
          masterKey: await settings.masterKey(),
          environment: settings.config.LUNAS_ENVIRONMENT,
          webhookAllowedNetworks: settings.config.WEBHOOK_ALLOWED_NETWORKS,
          publicBaseUrl: settings.publicBaseUrl(),
          refundHoldSeconds: settings.config.REFUND_HOLD_SECONDS,
          isRecovering: settings.config.LUNAS_RECOVERY_MODE === 'true',
          metricsPort: settings.config.METRICS_PORT,
          workflowBundlePath: WORKFLOW_BUNDLE,
          log,
          // It ends the process, which whoever watches over it starts again.
          onFailure: (error) => {
            throw error;
          },
        });
      });
    });
}
