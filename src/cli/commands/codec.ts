import type { Command } from 'commander';
import { codecPortOf } from '../../config';
import { DerivedKeys } from '../../crypto/derived-keys';
import { createPool } from '../../db/connection/pool';
import { decryptionRecorder } from '../../services/audit/record-decryption';
import { operatorFinder } from '../../services/identity/operators';
import type { CommandContext } from '../command-context';
import { requireOwnSettings, requireSettings } from '../lunas-command';
import { runService } from '../service-process';

export function defineCodec(codec: Command): void {
  codec.action(() =>
    runService('codec', async (log, context) => {
      const { startCodecServer } = await import('../../temporal/codec-server.js');
      const { payloadKeys } = await import('../../temporal/payload-codec.js');
      const { config } = context;
      const databaseUrl = await context.databaseUrl();
      await requireOwnSettings(context);
      const db = createPool(databaseUrl, { max: 2 });
      // It would decrypt for everyone in a production database that it takes for a sandbox.
      const environment = await requireSettings(context, db);
      const server = await startCodecServer({
        port: codecPortOf(config),
        keys: payloadKeys(new DerivedKeys(db, await context.sealer(db))),
        namespace: config.TEMPORAL_NAMESPACE,
        origins: temporalUiOrigins(context),
        findOperator: environment === 'sandbox' ? null : operatorFinder(db, environment),
        record: decryptionRecorder(db, log),
        log,
      });
      return {
        async close() {
          await server.close();
          await db.end();
        },
      };
    }),
  );
}

/** The origins of the pages that may use the codec server. */
function temporalUiOrigins(context: CommandContext): string[] {
  const { TEMPORAL_UI_URL } = context.config;
  if (TEMPORAL_UI_URL !== undefined) return [new URL(TEMPORAL_UI_URL).origin];
  const { TEMPORAL_UI_PORT } = context.localStackConfig();
  return ['127.0.0.1', 'localhost'].map((host) => `http://${host}:${TEMPORAL_UI_PORT}`);
}
