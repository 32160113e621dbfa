import { VERSION } from '../package-info';
import { LunasCommand } from './lunas-command';
import type { Terminal } from './terminal';

type AddCommand = (program: LunasCommand) => void;

/** The modules of the commands, by group and name in `--help`. One run of `lunas` loads the one that it uses. */
const GROUPS: Readonly<Record<string, Readonly<Record<string, () => Promise<AddCommand>>>>> = {
  'Run everything on this machine:': {
    'up services': async () => (await import('./commands/local-stack.js')).addLocalStackCommands,
  },
  'Run one process:': {
    api: async () => (await import('./commands/api.js')).addApiCommand,
    worker: async () => (await import('./commands/worker.js')).addWorkerCommand,
    dashboard: async () => (await import('./commands/dashboard.js')).addDashboardCommand,
    sandbox: async () => (await import('./commands/sandbox.js')).addSandboxCommand,
    codec: async () => (await import('./commands/codec.js')).addCodecCommand,
    migrate: async () => (await import('./commands/migrate.js')).addMigrateCommand,
    temporal: async () => (await import('./commands/temporal.js')).addTemporalCommand,
  },
  'Develop a shop:': {
    listen: async () => (await import('./commands/listen.js')).addListenCommand,
    trigger: async () => (await import('./commands/trigger.js')).addTriggerCommand,
    logs: async () => (await import('./commands/logs.js')).addLogsCommand,
    requests: async () => (await import('./commands/requests.js')).addRequestsCommand,
  },
  'Administer:': {
    merchants: async () => (await import('./commands/merchants.js')).addMerchantsCommand,
    keys: async () => (await import('./commands/keys.js')).addKeysCommand,
    users: async () => (await import('./commands/users.js')).addUsersCommand,
    webhooks: async () => (await import('./commands/webhooks.js')).addWebhooksCommand,
    catalog: async () => (await import('./commands/catalog.js')).addCatalogCommand,
    fees: async () => (await import('./commands/fees.js')).addFeesCommand,
    accounts: async () => (await import('./commands/accounts.js')).addAccountsCommand,
    'bank-accounts': async () => (await import('./commands/bank-accounts.js')).addBankAccountsCommand,
    operators: async () => (await import('./commands/operators.js')).addOperatorsCommand,
    approvals: async () => (await import('./commands/approvals.js')).addApprovalsCommand,
  },
  'Inspect payments and payouts:': {
    attention: async () => (await import('./commands/attention.js')).addAttentionCommand,
    payments: async () => (await import('./commands/payments.js')).addPaymentsCommand,
    payouts: async () => (await import('./commands/payouts.js')).addPayoutsCommand,
    refunds: async () => (await import('./commands/refunds.js')).addRefundsCommand,
    exceptions: async () => (await import('./commands/exceptions.js')).addExceptionsCommand,
    customers: async () => (await import('./commands/customers.js')).addCustomersCommand,
  },
  'Verify and repair:': {
    doctor: async () => (await import('./commands/doctor.js')).addDoctorCommand,
    runs: async () => (await import('./commands/runs.js')).addRunsCommand,
    ledger: async () => (await import('./commands/ledger.js')).addLedgerCommand,
    statements: async () => (await import('./commands/statements.js')).addStatementsCommand,
    audit: async () => (await import('./commands/audit.js')).addAuditCommand,
    reconcile: async () => (await import('./commands/reconcile.js')).addReconcileCommand,
    recover: async () => (await import('./commands/recover.js')).addRecoverCommand,
    recovery: async () => (await import('./commands/recovery.js')).addRecoveryCommand,
    replay: async () => (await import('./commands/replay.js')).addReplayCommand,
    archive: async () => (await import('./commands/archive.js')).addArchiveCommand,
  },
};

const namesOf = (key: string) => key.split(' ');
const NAMES = new Set(Object.values(GROUPS).flatMap((group) => Object.keys(group).flatMap(namesOf)));

/**
 * The `lunas` command with its subcommands. It throws instead of ending the process as commander does.
 * @param name the command that runs; of every other text, such as `--help`, and without it, all commands are there
 */
export async function createProgram(terminal: Terminal, name?: string): Promise<LunasCommand> {
  const program = new LunasCommand(terminal, 'lunas')
    .description('Durable QRIS payments for merchants.')
    .version(VERSION)
    // After the name of a command, `--version` is an option of that command.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
    });
  const isWanted = (key: string) => name === undefined || !NAMES.has(name) || namesOf(key).includes(name);
  for (const [title, group] of Object.entries(GROUPS)) {
    program.commandsGroup(title);
    for (const [key, load] of Object.entries(group)) if (isWanted(key)) (await load())(program);
  }
  program.commandsGroup('Help:').helpCommand(true);

  return program.examples(
    'lunas up                                    # everything, with a demo merchant and a key',
    'lunas merchants create --name "Toko Maju" --approve',
    'lunas payments show LN0123456789ABCDEF --json',
  );
}
