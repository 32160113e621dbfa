import type { Command } from 'commander';
import { codecPortOf, type Environment, temporalUiOrigins } from '../../config';
import { DerivedKeys } from '../../db/derived-keys';
import { readEnvironment } from '../../db/environment';
import { createPool } from '../../db/pool';
import { operatorFinder } from '../../operator/operators';
import type { CommandContext } from '../command-context';
import { requireRules } from '../rules/rule';
import { SETTINGS_RULES } from '../rules/settings-rules';
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
        const databaseUrl = await context.databaseUrl();
        const environment = await requireEnvironment(context, databaseUrl);
        const db = createPool(databaseUrl, { max: 2 });
        const server = await startCodecServer({
          port: codecPortOf(config),
          keys: payloadKeys(new DerivedKeys(db, await context.sealer(db))),
          namespace: config.TEMPORAL_NAMESPACE,
          origins: temporalUiOrigins(config),
          findOperator: environment === 'sandbox' ? null : operatorFinder(db, environment),
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

/** The server does not start without an environment: it would decrypt for everyone. */
async function requireEnvironment(context: CommandContext, databaseUrl: string): Promise<Environment> {
  const recorded = await readEnvironment(databaseUrl);
  const settings = await context.settings(recorded ?? undefined);
  await requireRules(SETTINGS_RULES, settings);
  // The rule `environment` requires one of them.
  return recorded ?? settings.environment ?? 'production';
}
