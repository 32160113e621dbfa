import type { Command } from 'commander';
import { z } from 'zod';
import { UserError } from '../../config';
import type { SandboxDatabase } from '../../embedded/sandbox-database';
import { answering } from '../answering';
import { MAGIC_AMOUNTS } from '../../sandbox/magic-amounts';
import { runService } from '../service-process';
import { Settings } from '../settings';
import type { Terminal } from '../terminal';

const PAY_DEADLINE_MS = 10_000;

const payAnswer = z.union([
  z.object({ payment: z.looseObject({ status: z.string() }) }),
  z.object({ error: z.object({ message: z.string() }) }),
]);

export function addSandboxCommand(program: Command, terminal: Terminal): void {
  const sandbox = program
    .command('sandbox')
    .description('run the acquirer simulator, or pay in the one that runs')
    .action(async () => {
      await runService('sandbox', async (log) => {
        const settings = new Settings(terminal.environment);
        const { startSandbox } = await import('../../sandbox/sandbox.js');
        const { SANDBOX_PORT: port, HOST: host } = settings.config;
        const ledger = await openLedger(settings, (line) => log.warn(line));
        try {
          const { databaseUrl } = ledger;
          const running = await startSandbox({ port, host, databaseUrl, notificationUrl: null, log });
          await ledger.announce(running.url);
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
      });
    });
  sandbox.addHelpText('after', magicAmounts());
  const pay = sandbox.command('pay <reference-id>').description('pay as a customer would, in the running sandbox');
  answering(pay, terminal, z.object({ referenceId: z.string() }), async ({ referenceId }, settings) => {
    const payment = await payInSandbox(await settings.sandboxUrl(), referenceId);
    return { json: { payment }, text: `${referenceId} is paid at the sandbox: it says ${payment.status}.` };
  });
}

function magicAmounts(): string {
  const lines = MAGIC_AMOUNTS.map(({ totalRupiah, says }) => `  ${totalRupiah}  ${says}`);
  return ['', 'An order over exactly this total:', ...lines].join('\n');
}

/** Beside the database of a Lunas, where there is one; else in a PostgreSQL of its own. */
async function openLedger(settings: Settings, say: (line: string) => void): Promise<SandboxDatabase> {
  const run = await settings.run();
  const lunas = settings.config.DATABASE_URL ?? run?.database_url;
  const nothing = () => Promise.resolve();
  if (lunas !== undefined) return { databaseUrl: ownDatabase(lunas), announce: nothing, stop: nothing };
  const { startSandboxDatabase } = await import('../../embedded/sandbox-database.js');
  return startSandboxDatabase(settings.home, say);
}

/** The sandbox keeps its ledger apart from ours, on the same server. */
function ownDatabase(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.pathname += '_sandbox';
  return url.href;
}

async function payInSandbox(sandboxUrl: string, referenceId: string): Promise<{ status: string }> {
  const url = `${sandboxUrl}/simulator/payments/${encodeURIComponent(referenceId)}/pay`;
  const response = await fetch(url, { method: 'POST', signal: AbortSignal.timeout(PAY_DEADLINE_MS) }).catch(() => {
    throw new UserError(
      `No sandbox answers at ${sandboxUrl}. Start \`lunas up\`, or set SANDBOX_PORT to where it listens.`,
    );
  });
  const answer = payAnswer.parse(await response.json());
  if ('error' in answer) throw new UserError(`The sandbox refused to pay ${referenceId}: ${answer.error.message}`);
  return answer.payment;
}
