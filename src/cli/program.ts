import { VERSION } from '../package-info';
import { addAccountsCommand } from './commands/accounts';
import { addApiCommand } from './commands/api';
import { addApprovalsCommand } from './commands/approvals';
import { addArchiveCommand } from './commands/archive';
import { addAttentionCommand } from './commands/attention';
import { addAuditCommand } from './commands/audit';
import { addBankAccountsCommand } from './commands/bank-accounts';
import { addCatalogCommand } from './commands/catalog';
import { addCodecCommand } from './commands/codec';
import { addCustomersCommand } from './commands/customers';
import { addDashboardCommand } from './commands/dashboard';
import { addDoctorCommand } from './commands/doctor';
import { addExceptionsCommand } from './commands/exceptions';
import { addKeysCommand } from './commands/keys';
import { addLedgerCommand } from './commands/ledger';
import { addListenCommand } from './commands/listen';
import { addLocalStackCommands } from './commands/local-stack';
import { addLogsCommand } from './commands/logs';
import { addMerchantsCommand } from './commands/merchants';
import { addMigrateCommand } from './commands/migrate';
import { addOperatorsCommand } from './commands/operators';
import { addPaymentsCommand } from './commands/payments';
import { addPayoutsCommand } from './commands/payouts';
import { addReconcileCommand } from './commands/reconcile';
import { addRecoverCommand } from './commands/recover';
import { addRecoveryCommand } from './commands/recovery';
import { addRefundsCommand } from './commands/refunds';
import { addReplayCommand } from './commands/replay';
import { addRequestsCommand } from './commands/requests';
import { addSandboxCommand } from './commands/sandbox';
import { addStatementsCommand } from './commands/statements';
import { addTemporalCommand } from './commands/temporal';
import { addTriggerCommand } from './commands/trigger';
import { addUsersCommand } from './commands/users';
import { addWebhooksCommand } from './commands/webhooks';
import { addWorkerCommand } from './commands/worker';
import { LunasCommand } from './lunas-command';
import type { Terminal } from './terminal';

/** The `lunas` command with all its subcommands. It throws instead of ending the process as commander does. */
export function createProgram(terminal: Terminal): LunasCommand {
  const program = new LunasCommand(terminal, 'lunas')
    .description('Durable QRIS payments for merchants.')
    .version(VERSION)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
    });

  program.commandsGroup('Run everything on this machine:');
  addLocalStackCommands(program);

  program.commandsGroup('Run one process:');
  addApiCommand(program);
  addWorkerCommand(program);
  addDashboardCommand(program);
  addSandboxCommand(program);
  addCodecCommand(program);
  addMigrateCommand(program);
  addTemporalCommand(program);

  program.commandsGroup('Develop a shop:');
  addListenCommand(program);
  addTriggerCommand(program);
  addLogsCommand(program);
  addRequestsCommand(program);

  program.commandsGroup('Administer:');
  addMerchantsCommand(program);
  addKeysCommand(program);
  addUsersCommand(program);
  addWebhooksCommand(program);
  addCatalogCommand(program);
  addAccountsCommand(program);
  addBankAccountsCommand(program);
  addOperatorsCommand(program);
  addApprovalsCommand(program);

  program.commandsGroup('Inspect payments and payouts:');
  addAttentionCommand(program);
  addPaymentsCommand(program);
  addPayoutsCommand(program);
  addRefundsCommand(program);
  addExceptionsCommand(program);
  addCustomersCommand(program);

  program.commandsGroup('Verify and repair:');
  addDoctorCommand(program);
  addLedgerCommand(program);
  addStatementsCommand(program);
  addAuditCommand(program);
  addReconcileCommand(program);
  addRecoverCommand(program);
  addRecoveryCommand(program);
  addReplayCommand(program);
  addArchiveCommand(program);

  program.commandsGroup('Help:').helpCommand(true);

  return program.examples(
    'lunas up                                    # everything, with a demo merchant and a key',
    'lunas merchants create --name "Toko Maju" --approve',
    'lunas payments show LN0123456789ABCDEF --json',
  );
}
