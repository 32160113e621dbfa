import { VERSION } from '../package-info';
import { LunasCommand } from './lunas-command';
import type { Terminal } from './terminal';

interface CommandEntry {
  readonly about: string;
  /** The module of the command defines the arguments, options and subcommands. */
  readonly load: () => Promise<(command: LunasCommand) => void>;
}

/** The commands, by group and name in `--help`. One run of `lunas` loads only the module of the one that it uses. */
const GROUPS: Readonly<Record<string, Readonly<Record<string, CommandEntry>>>> = {
  'Run everything on this machine:': {
    up: {
      about: 'run PostgreSQL, Temporal with its Web UI, the sandbox, the API, the worker and the dashboard',
      load: async () => (await import('./commands/local-stack.js')).defineUp,
    },
    services: {
      about: 'run only PostgreSQL, Temporal and the sandbox; you run the API, the worker and the dashboard',
      load: async () => (await import('./commands/local-stack.js')).defineServices,
    },
  },
  'Run one process:': {
    api: {
      about: 'run the HTTP API that merchants and providers call, and the operator API',
      load: async () => (await import('./commands/api.js')).defineApi,
    },
    worker: {
      about: 'run the worker: workflows, activities and the webhook relay',
      load: async () => (await import('./commands/worker.js')).defineWorker,
    },
    dashboard: {
      about: 'run the pages on which members of merchants take, find and refund payments',
      load: async () => (await import('./commands/dashboard.js')).defineDashboard,
    },
    sandbox: {
      about: 'run the acquirer simulator; `lunas sandbox pay` pays an order in it',
      load: async () => (await import('./commands/sandbox.js')).defineSandbox,
    },
    codec: {
      about: 'run the codec server, with which the Temporal Web UI and CLI show encrypted payloads to operators',
      load: async () => (await import('./commands/codec.js')).defineCodec,
    },
    migrate: {
      about: 'apply all migrations of this version to the database',
      load: async () => (await import('./commands/migrate.js')).defineMigrate,
    },
    temporal: {
      about: 'check or set up the namespace of Temporal',
      load: async () => (await import('./commands/temporal.js')).defineTemporal,
    },
  },
  'Develop a shop:': {
    listen: {
      about: "forward a merchant's webhooks to a server on this machine, without a tunnel",
      load: async () => (await import('./commands/listen.js')).defineListen,
    },
    trigger: {
      about: 'take a new payment of the sandbox to an event, or fire a timer of an existing one',
      load: async () => (await import('./commands/trigger.js')).defineTrigger,
    },
    logs: {
      about: 'show the newest requests to the API',
      load: async () => (await import('./commands/logs.js')).defineLogs,
    },
    requests: {
      about: 'requests to the API',
      load: async () => (await import('./commands/requests.js')).defineRequests,
    },
  },
  'Administer:': {
    merchants: {
      about: 'merchants and how they take payments',
      load: async () => (await import('./commands/merchants.js')).defineMerchants,
    },
    keys: {
      about: "merchants' secret keys for the API; the master key",
      load: async () => (await import('./commands/keys.js')).defineKeys,
    },
    users: {
      about: 'who signs in to the merchant dashboard',
      load: async () => (await import('./commands/users.js')).defineUsers,
    },
    webhooks: {
      about: 'webhook endpoints of merchants and their deliveries',
      load: async () => (await import('./commands/webhooks.js')).defineWebhooks,
    },
    catalog: {
      about: 'fees and settlement, by provider and channel',
      load: async () => (await import('./commands/catalog.js')).defineCatalog,
    },
    fees: {
      about: 'what payments cost: rates of classes, and agreed prices',
      load: async () => (await import('./commands/fees.js')).defineFees,
    },
    company: {
      about: 'who issues the invoices of fees',
      load: async () => (await import('./commands/company.js')).defineCompany,
    },
    invoices: {
      about: 'invoices of the fees of each month, and credit notes',
      load: async () => (await import('./commands/invoices.js')).defineInvoices,
    },
    accounts: {
      about: 'provider accounts; merchants never see them',
      load: async () => (await import('./commands/accounts.js')).defineAccounts,
    },
    'bank-accounts': {
      about: 'accounts of merchants that receive payouts',
      load: async () => (await import('./commands/bank-accounts.js')).defineBankAccounts,
    },
    operators: {
      about: 'keys of the operator API, and the audit log',
      load: async () => (await import('./commands/operators.js')).defineOperators,
    },
    approvals: {
      about: 'actions that a second operator has to approve in production',
      load: async () => (await import('./commands/approvals.js')).defineApprovals,
    },
  },
  'Inspect payments and payouts:': {
    attention: {
      about: 'list what waits for an operator, each with its next command; exits with 1 if a person has to act',
      load: async () => (await import('./commands/attention.js')).defineAttention,
    },
    payments: {
      about: 'status and history of payments',
      load: async () => (await import('./commands/payments.js')).definePayments,
    },
    payouts: {
      about: "payments of merchants' balances to their bank accounts",
      load: async () => (await import('./commands/payouts.js')).definePayouts,
    },
    refunds: {
      about: 'refunds that require an operator',
      load: async () => (await import('./commands/refunds.js')).defineRefunds,
    },
    exceptions: {
      about: 'late payments and other cases that require an operator',
      load: async () => (await import('./commands/exceptions.js')).defineExceptions,
    },
    customers: {
      about: 'personal data of the customers who pay',
      load: async () => (await import('./commands/customers.js')).defineCustomers,
    },
  },
  'Verify and repair:': {
    doctor: {
      about: 'print every rule of a safe start with its state; exits with 1 if one is broken',
      load: async () => (await import('./commands/doctor.js')).defineDoctor,
    },
    runs: {
      about: 'the runs of the schedules: payouts, closing of days and others',
      load: async () => (await import('./commands/runs.js')).defineRuns,
    },
    ledger: {
      about: 'the double-entry ledger',
      load: async () => (await import('./commands/ledger.js')).defineLedger,
    },
    statements: {
      about: "merchants' balances, day by day in WIB",
      load: async () => (await import('./commands/statements.js')).defineStatements,
    },
    audit: {
      about: 'the hash chain of the audit log',
      load: async () => (await import('./commands/audit.js')).defineAudit,
    },
    reconcile: {
      about: 'compare provider, PostgreSQL and workflow of open payments and of recently changed final payments',
      load: async () => (await import('./commands/reconcile.js')).defineReconcile,
    },
    recover: {
      about: 'make PostgreSQL and Temporal consistent after one was lost or restored: rebuild lost workflows and rows',
      load: async () => (await import('./commands/recover.js')).defineRecover,
    },
    recovery: {
      about: 'recovery mode: no worker settles or refunds, because PostgreSQL may be behind the provider',
      load: async () => (await import('./commands/recovery.js')).defineRecovery,
    },
    replay: {
      about: 'replay open workflows with the workflow code of this version, before it is deployed',
      load: async () => (await import('./commands/replay.js')).defineReplay,
    },
    archive: {
      about: 'move old final payments from PostgreSQL to files in two steps; their idempotency keys stay taken',
      load: async () => (await import('./commands/archive.js')).defineArchive,
    },
  },
};

const NAMES = new Set(Object.values(GROUPS).flatMap((group) => Object.keys(group)));

/**
 * The `lunas` command with its subcommands. It throws instead of ending the process as commander does.
 * @param argv with it only the command that it names has its arguments, options and subcommands
 */
export async function createProgram(terminal: Terminal, argv?: readonly string[]): Promise<LunasCommand> {
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
  const used = argv?.find((argument) => NAMES.has(argument));
  for (const [title, group] of Object.entries(GROUPS)) {
    program.commandsGroup(title);
    for (const [name, { about, load }] of Object.entries(group)) {
      const command = program.command(name).description(about);
      if (argv === undefined || name === used) (await load())(command);
    }
  }
  program.commandsGroup('Help:').helpCommand(true);

  return program.examples(
    'lunas up                                    # everything, with a demo merchant and a key',
    'lunas merchants create --name "Toko Maju" --approve',
    'lunas payments show LN0123456789ABCDEF --json',
  );
}
