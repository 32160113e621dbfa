import type { Command } from 'commander';
import { z } from 'zod';
import { UserError } from '../../errors';
import { PROVIDERS } from '../../domain/provider-capabilities';
import {
  ADAPTERS,
  addAccount,
  disableAccount,
  listAccounts,
  type ProviderAccount,
} from '../../operator/provider-accounts';
import { withCommandAudit } from '../operator-identity';
import { defineAction, withExamples } from '../command-action';
import { id, joinOptions, oneOf, wholeNumber } from '../option-schemas';
import { formatTable } from '../output';
import { withDatabase } from '../command-context';
import type { Terminal } from '../terminal';

const MAX_WEIGHT = 1_000;

export function addAccountsCommand(program: Command, terminal: Terminal): void {
  const accounts = program.command('accounts').description('provider accounts; merchants never see them');
  addAdd(accounts, terminal);
  addList(accounts, terminal);
  addDisable(accounts, terminal);
}

function addAdd(accounts: Command, terminal: Terminal): void {
  const command = accounts
    .command('add')
    .description('register a provider account; its server key is read from the environment and stored sealed')
    .requiredOption('--provider <provider>', joinOptions(PROVIDERS))
    .requiredOption('--adapter <adapter>', joinOptions(ADAPTERS))
    .requiredOption('--server-key-env <name>', 'the environment variable that holds the server key')
    .option('--base-url <url>', "the acquirer's address (default: Midtrans, by LUNAS_ENVIRONMENT)")
    .option('--weight <n>', "share of new payments, relative to the provider's other accounts", '1');
  withExamples(
    command,
    'MIDTRANS_KEY=SB-Mid-server-… lunas accounts add --provider gopay --adapter midtrans --server-key-env MIDTRANS_KEY',
  );
  const input = z.object({
    provider: oneOf(PROVIDERS),
    adapter: oneOf(ADAPTERS),
    serverKeyEnv: z.string(),
    baseUrl: z.string().optional(),
    weight: wholeNumber(1, MAX_WEIGHT),
  });
  defineAction(command, terminal, input, ({ serverKeyEnv, ...given }, context) =>
    withDatabase(context, async (db) => {
      const environment = context.config.LUNAS_ENVIRONMENT;
      const serverKey = requireVariable(terminal.environment, serverKeyEnv);
      const account = await addAccount(db, await context.sealer(), { ...given, serverKey, environment });
      return { json: { account }, text: renderAccounts([account]) };
    }),
  );
}

function addList(accounts: Command, terminal: Terminal): void {
  const command = accounts.command('list').description('list all provider accounts, without their keys');
  defineAction(command, terminal, z.object({}), (_, context) =>
    withDatabase(context, async (db) => {
      const list = await listAccounts(db);
      return { json: { accounts: list }, text: renderAccounts(list) };
    }),
  );
}

function addDisable(accounts: Command, terminal: Terminal): void {
  const command = accounts
    .command('disable <account-id>')
    .description('use a provider account for no new payments; its existing payments continue');
  defineAction(command, terminal, z.object({ accountId: id }), ({ accountId }, context) =>
    withDatabase(context, async (db) => {
      const account = await withCommandAudit(db, 'account.disable', accountId, () => disableAccount(db, accountId));
      return { json: { account }, text: renderAccounts([account]) };
    }),
  );
}

function requireVariable(environment: NodeJS.ProcessEnv, name: string): string {
  const value = environment[name];
  if (value) return value;
  throw new UserError(`--server-key-env names ${name}, but no such environment variable is set.`);
}

function renderAccounts(accounts: readonly ProviderAccount[]): string {
  const columns = {
    ID: (account: ProviderAccount) => account.id,
    PROVIDER: (account: ProviderAccount) => account.provider,
    ADAPTER: (account: ProviderAccount) => account.adapter,
    'BASE URL': (account: ProviderAccount) => account.baseUrl,
    WEIGHT: (account: ProviderAccount) => account.weight,
    STATUS: (account: ProviderAccount) => account.status,
  };
  return formatTable(
    accounts,
    columns,
    'There is no provider account yet, so no payment can be created; see lunas accounts add.',
  );
}
