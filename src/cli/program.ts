import { Command } from 'commander';
import { VERSION } from '../package-info';
import { withExamples } from './command-action';
import { addAccountsCommand } from './commands/accounts';
import { addApiCommand } from './commands/api';
import { addCatalogCommand } from './commands/catalog';
import { addExceptionsCommand } from './commands/exceptions';
import { addKeysCommand } from './commands/keys';
import { addLedgerCommand } from './commands/ledger';
import { addMerchantsCommand } from './commands/merchants';
import { addMigrateCommand } from './commands/migrate';
import { addOperatorsCommand } from './commands/operators';
import { addPaymentsCommand } from './commands/payments';
import { addReconcileCommand } from './commands/reconcile';
import { addRecoverCommand } from './commands/recover';
import { addRefundsCommand } from './commands/refunds';
import { addSandboxCommand } from './commands/sandbox';
import { addServicesCommand } from './commands/services';
import { addUpCommand } from './commands/up';
import { addWebhooksCommand } from './commands/webhooks';
import { addWorkerCommand } from './commands/worker';
import type { Terminal } from './terminal';

/** The `lunas` command with all its subcommands. It throws instead of ending the process as commander does. */
export function createProgram(terminal: Terminal): Command {
  const program = new Command('lunas')
    .description('Durable QRIS payments for merchants.')
    .version(VERSION)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
    });

  program.commandsGroup('Run everything on this machine:');
  addUpCommand(program);
  addServicesCommand(program);

  program.commandsGroup('Run one process:');
  addApiCommand(program, terminal);
  addWorkerCommand(program, terminal);
  addSandboxCommand(program, terminal);
  addMigrateCommand(program, terminal);

  program.commandsGroup('Administer:');
  addMerchantsCommand(program, terminal);
  addKeysCommand(program, terminal);
  addWebhooksCommand(program, terminal);
  addCatalogCommand(program, terminal);
  addAccountsCommand(program, terminal);
  addOperatorsCommand(program, terminal);

  program.commandsGroup('Inspect payments:');
  addPaymentsCommand(program, terminal);
  addRefundsCommand(program, terminal);
  addExceptionsCommand(program, terminal);

  program.commandsGroup('Verify and repair:');
  addLedgerCommand(program, terminal);
  addReconcileCommand(program, terminal);
  addRecoverCommand(program, terminal);

  program.commandsGroup('Help:').helpCommand(true);

  return withExamples(
    program,
    'lunas up                                    # everything, with a demo merchant and a key',
    'lunas merchants create --name "Toko Maju" --approve',
    'lunas payments show LN0123456789ABCDEF --json',
  );
}
