import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { PROVIDERS } from '../../domain/provider-capabilities';
import { UserError } from '../../errors';
import { PAYMENT_ADAPTERS, PAYOUT_ADAPTERS } from '../../providers/adapters';
import { NMID, SHOWN_NAME } from '../../services/merchants/merchant-identity';
import { requireDone } from '../../services/operations/require-done';
import { disableAccount, enableAccount } from '../../services/provider-accounts/account-status';
import { createAccount } from '../../services/provider-accounts/create-account';
import {
  findAccount,
  listAccounts,
  type ProviderAccount,
  type SealingDependencies,
} from '../../services/provider-accounts/provider-accounts';
import { setCallRate } from '../../services/provider-accounts/set-call-rate';
import { setServerKey } from '../../services/provider-accounts/set-key';
import type { CommandContext } from '../command-context';
import { howToApprove } from '../error-hints';
import type { LunasCommand } from '../lunas-command';
import type { CommandAudit } from '../operator-identity';
import { id, joinOptions, oneOf, wholeNumber } from '../option-schemas';
import { formatTable, type CommandResult } from '../output';
import { runOperation } from '../run-operation';

const nmid = z.string().regex(NMID, { error: 'must be ID and 13 digits' });
const shownName = z.string().regex(SHOWN_NAME, { error: 'must be 1 to 25 printable ASCII characters' });
const SHOWN_NAME_DESCRIPTION = "the name that customers' apps show; each QR must have it";
const NMID_DESCRIPTION = "the merchant's national id, as the acquirer's dashboard shows it; each QR must have it";
const MAX_WEIGHT = 1_000;
/** How much of a server key's fingerprint is shown; `--json` shows all. */
const SHOWN_DIGITS = 12;
const MAX_CALLS_PER_SECOND = 10_000;
const ADD_EXAMPLE =
  'MIDTRANS_KEY=SB-Mid-server-… lunas accounts add --provider gopay --adapter midtrans --server-key-env MIDTRANS_KEY';

export function defineAccounts(accounts: LunasCommand): void {
  addAdd(accounts);
  accounts
    .command('list')
    .description('list all provider accounts, without their keys')
    .databaseAction(z.object({}), async (_, db) => {
      const list = await listAccounts(db);
      return { json: { accounts: list }, text: renderAccounts(list) };
    });
  accounts
    .command('disable <account-id>')
    .description('use a provider account for no new payments; its existing payments continue')
    .writeAction(z.object({ accountId: id }), async ({ accountId }, audit) => {
      const call = { path: { account: accountId }, input: {} };
      return accountResult(requireDone(await runOperation(audit, disableAccount, audit, call)));
    });
  accounts
    .command('enable <account-id>')
    .description('use a provider account for new payments again')
    .writeAction(z.object({ accountId: id }), async ({ accountId }, audit) => {
      const call = { path: { account: accountId }, input: {} };
      return accountResult(requireDone(await runOperation(audit, enableAccount, audit, call)));
    });
  addPayouts(accounts);
  addSetKey(accounts);
  addSetRate(accounts);
}

function addAdd(accounts: LunasCommand): void {
  const input = z.object({
    provider: oneOf(PROVIDERS),
    adapter: oneOf(PAYMENT_ADAPTERS),
    serverKeyEnv: z.string(),
    baseUrl: z.string().optional(),
    merchant: id.optional(),
    nmid: nmid.optional(),
    shownName: shownName.optional(),
    weight: wholeNumber(1, MAX_WEIGHT),
  });
  accounts
    .command('add')
    .description('register a provider account; its server key is read from the environment and stored sealed')
    .requiredOption('--provider <provider>', joinOptions(PROVIDERS))
    .requiredOption('--adapter <adapter>', joinOptions(PAYMENT_ADAPTERS))
    .requiredOption('--server-key-env <name>', 'the environment variable that holds the server key')
    .option('--base-url <url>', "the acquirer's address (default: Midtrans, by the environment)")
    .option('--merchant <merchant-id>', 'the only merchant whose payments it takes (default: shared)')
    .option('--nmid <nmid>', `${NMID_DESCRIPTION} (default: that of --merchant)`)
    .option('--shown-name <name>', `${SHOWN_NAME_DESCRIPTION} (default: the trading name of --merchant)`)
    .option('--weight <n>', "share of new payments, relative to the provider's other accounts", '1')
    .examples(ADD_EXAMPLE)
    .writeAction(input, async ({ serverKeyEnv, merchant, ...account }, audit, context) => {
      const key = requireVariable(accounts.terminal.environment, serverKeyEnv);
      return add(audit, context, { ...account, key }, merchant);
    });
}

function addPayouts(accounts: LunasCommand): void {
  accounts
    .command('add-payouts')
    .description('register our account at the bank that executes payouts; its credentials are stored sealed')
    .requiredOption('--adapter <adapter>', joinOptions(PAYOUT_ADAPTERS))
    .requiredOption('--base-url <url>', "the bank's address")
    .requiredOption('--credentials-env <name>', 'the environment variable that holds the credentials, as JSON')
    .examples(
      'lunas accounts add-payouts --adapter snap-midtrans --base-url https://… --credentials-env BANK_CREDENTIALS',
    )
    .writeAction(
      z.object({ adapter: oneOf(PAYOUT_ADAPTERS), baseUrl: z.string(), credentialsEnv: z.string() }),
      async ({ credentialsEnv, ...account }, audit, context) => {
        const key = requireVariable(accounts.terminal.environment, credentialsEnv, '--credentials-env');
        return add(audit, context, { ...account, key });
      },
    );
}

/** In production a second operator has to approve the account, which is only proposed until then. */
async function add(
  audit: CommandAudit,
  context: CommandContext,
  input: z.input<(typeof createAccount)['input']>,
  merchantId?: string,
): Promise<CommandResult> {
  const accountId = uuidv7();
  const call = { path: { account: accountId, merchantId }, input };
  const created = await runOperation(audit, createAccount, sealing(audit, context), call);
  if (created.outcome !== 'waits') return accountResult(requireDone(created));
  const { approvalId } = created;
  const account = await findAccount(audit.db, accountId);
  const hint = `It is not used yet: ${howToApprove(approvalId)}`;
  return { json: { account, approvalId }, text: `${renderAccounts([account])}\n\n${hint}` };
}

function sealing({ db, log }: CommandAudit, context: CommandContext): SealingDependencies {
  return { db, log, loadSealer: () => context.sealer(db) };
}

function addSetKey(accounts: LunasCommand): void {
  accounts
    .command('set-key <account-id>')
    .description('replace the server key of a provider account; every process uses the new one within 2 seconds')
    .requiredOption('--server-key-env <name>', 'the environment variable that holds the new server key')
    .option('--nmid <nmid>', `${NMID_DESCRIPTION} (default: that of the account)`)
    .option('--shown-name <name>', `${SHOWN_NAME_DESCRIPTION} (default: that of the account)`)
    .examples('MIDTRANS_KEY=SB-Mid-server-… lunas accounts set-key ACCOUNT_ID --server-key-env MIDTRANS_KEY')
    .writeAction(
      z.object({
        accountId: id,
        serverKeyEnv: z.string(),
        nmid: nmid.optional(),
        shownName: shownName.optional(),
      }),
      async ({ accountId, serverKeyEnv, ...shop }, audit, context) => {
        const serverKey = requireVariable(accounts.terminal.environment, serverKeyEnv);
        const call = { path: { account: accountId }, input: { serverKey, ...shop } };
        return accountResult(requireDone(await runOperation(audit, setServerKey, sealing(audit, context), call)));
      },
    );
}

function addSetRate(accounts: LunasCommand): void {
  accounts
    .command('set-rate <account-id>')
    .description('limit the calls to a provider account, of all processes together, within 2 seconds')
    .requiredOption('--per-second <n>', 'calls per second; 0 removes the limit')
    .examples('lunas accounts set-rate ACCOUNT_ID --per-second 20')
    .writeAction(
      z.object({ accountId: id, perSecond: wholeNumber(0, MAX_CALLS_PER_SECOND) }),
      async ({ accountId, perSecond }, audit) => {
        const input = { callsPerSecond: perSecond === 0 ? null : perSecond };
        const call = { path: { account: accountId }, input };
        return accountResult(requireDone(await runOperation(audit, setCallRate, audit, call)));
      },
    );
}

function requireVariable(environment: NodeJS.ProcessEnv, name: string, option = '--server-key-env'): string {
  const value = environment[name];
  if (value) return value;
  throw new UserError(`${option} names ${name}, but no such environment variable is set.`);
}

function accountResult(account: ProviderAccount): CommandResult {
  return { json: { account }, text: renderAccounts([account]) };
}

function renderAccounts(accounts: readonly ProviderAccount[]): string {
  return formatTable(
    accounts.map((account) => ({
      ID: account.id,
      PROVIDER: account.provider ?? account.purpose,
      ADAPTER: account.adapter,
      'BASE URL': account.baseUrl,
      WEIGHT: account.weight,
      STATUS: account.status,
      'CALLS/S': account.callsPerSecond ?? 'no limit',
      MERCHANT: account.merchantId ?? 'shared',
      NMID: account.nmid,
      NAME: account.shownName,
      'SERVER KEY': account.keyFingerprint === null ? null : `${account.keyFingerprint.slice(0, SHOWN_DIGITS)}…`,
    })),
    'There is no provider account yet, so no payment can be created; see lunas accounts add.',
  );
}
