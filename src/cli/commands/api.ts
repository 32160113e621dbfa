import type { Command } from 'commander';
import { requireSchema } from '../require-schema';
import { runService } from '../service-process';
import { Settings } from '../settings';
import type { Terminal } from '../terminal';

export function addApiCommand(program: Command, terminal: Terminal): void {
  program
    .command('api')
    .description('run the HTTP API that merchants and providers call')
    .action(async () => {
      await runService('api', async (log) => {
        const settings = new Settings(terminal.environment);
        const databaseUrl = await settings.databaseUrl();
        await requireSchema(databaseUrl, log);
        const { startApi } = await import('../../api/server.js');
        const { HOST: host, PORT: port, TRUST_PROXY: trustProxy, RATE_LIMIT_PER_MINUTE } = settings.config;
        return startApi({
          host,
          port,
          publicBaseUrl: settings.publicBaseUrl(),
          databaseUrl,
          temporal: await settings.temporal(),
          masterKey: await settings.masterKey(),
          ...(trustProxy !== undefined && { trustProxy }),
          requestsPerMinute: RATE_LIMIT_PER_MINUTE,
          log,
        });
      });
    });
}
