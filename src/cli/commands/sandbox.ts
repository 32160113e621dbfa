import { z } from 'zod';
import type { SandboxDatabase } from '../../local-stack/sandbox-database';
import { MAGIC_AMOUNTS } from '../../sandbox/magic-amounts';
import { assertSandbox, assertSandboxDatabase } from '../assert-sandbox';
import type { CommandContext } from '../command-context';
import type { LunasCommand } from '../lunas-command';
import { payInSandbox } from '../pay-in-sandbox';
import { runService } from '../service-process';

export function defineSandbox(sandbox: LunasCommand): void {
  sandbox.action(() =>
    runService('sandbox', async (log, context) => {
      assertSandbox(context.config);
      const { startSandbox } = await import('../../sandbox/sandbox.js');
      const { SANDBOX_PORT: port, SANDBOX_HOST: host } = context.localStackConfig();
      const ledger = await openLedger(context, (line) => log.warn(line));
      try {
        const { databaseUrl } = ledger;
        const running = await startSandbox({ port, host, databaseUrl, log });
        await ledger.publishUrl(running.url);
        return {
          async close() {
            await running.close();
            await ledger.stop();
          },
        };
      } catch (error) {
        await ledger.stop();
        throw error;
      }
    }),
  );
  sandbox.addHelpText('after', magicAmounts());
  sandbox
    .command('pay <reference-id>')
    .description('pay an order as a customer, in the running sandbox')
    .checkedAction(z.object({ referenceId: z.string() }), async ({ referenceId }, context) => {
      assertSandbox(context.config);
      const payment = await payInSandbox(await context.sandboxUrl(), referenceId);
      const text = `${referenceId} is paid in the sandbox; its status there is ${payment.status}.`;
      return { json: { payment }, text };
    });
}

function magicAmounts(): string {
  const lines = MAGIC_AMOUNTS.map(({ totalRupiah, description }) => `  ${totalRupiah}  ${description}`);
  return ['', 'Orders with these totals behave differently:', ...lines].join('\n');
}

/** On the PostgreSQL server of a running or configured Lunas; otherwise on a server of its own. */
async function openLedger(context: CommandContext, log: (line: string) => void): Promise<SandboxDatabase> {
  const runFile = await context.runFile();
  const lunas = context.config.DATABASE_URL ?? runFile?.database_url;
  const nothing = () => Promise.resolve();
  if (lunas !== undefined) {
    await assertSandboxDatabase(lunas);
    return { databaseUrl: ownDatabase(lunas), publishUrl: nothing, stop: nothing };
  }
  const { startSandboxDatabase } = await import('../../local-stack/sandbox-database.js');
  return startSandboxDatabase(context.dataDirectory, log);
}

/** The sandbox's ledger is a database of its own on the same server. */
function ownDatabase(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.pathname += '_sandbox';
  return url.href;
}
