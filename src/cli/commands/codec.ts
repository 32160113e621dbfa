import type { Command } from 'commander';
import { codecPortOf, temporalUiOrigins } from '../../config';
import { runService } from '../service-process';

export function addCodecCommand(program: Command): void {
  program
    .command('codec')
    .description('run the codec server, with which the Temporal Web UI and CLI show encrypted payloads to operators')
    .action(() =>
      runService('codec', async (log, context) => {
        const { startCodecServer } = await import('../../temporal/codec-server.js');
        const { payloadKeys } = await import('../../temporal/payload-codec.js');
        const { config } = context;
        const settings = {
          port: codecPortOf(config),
          keys: payloadKeys(await context.masterKey(), ...context.oldMasterKeys),
          namespace: config.TEMPORAL_NAMESPACE,
          origins: temporalUiOrigins(config),
          log,
        };
        if (config.LUNAS_ENVIRONMENT !== 'production') return startCodecServer({ ...settings, findOperator: null });

        const { createPool } = await import('../../db/pool.js');
        const { operatorFinder } = await import('../../operator/operators.js');
        const db = createPool(await context.databaseUrl(), { max: 2 });
        const server = await startCodecServer({ ...settings, findOperator: operatorFinder(db) });
        return {
          async close() {
            await server.close();
            await db.end();
          },
        };
      }),
    );
}
