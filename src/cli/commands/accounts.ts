import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import type { Sealer } from '../../crypto/sealing';
import { PROVIDERS } from '../../domain/provider-capabilities';
import { UserError } from '../../errors';
import { PAYMENT_ADAPTERS, PAYOUT_ADAPTERS } from '../../providers/adapters';
import { requestApproval, requireApproval } from '../../services/audit/request-approval';
import { addPayoutsAccount } from '../../services/provider-accounts/payouts-account';
import {
  ADD_ACCOUNT,
  addAccount,
  DISABLE_ACCOUNT,
  disableAccount,
  ENABLE_ACCOUNT,
  enableAccount,
  listAccounts,
  PROPOSE_SERVER_KEY,
  proposeServerKey,
  SET_CALL_RATE,
  SET_SERVER_KEY,
  setCallRate,
  setServerKey,
  type NewServerKey,
  type ProviderAccount,
} from '../../services/provider-accounts/provider-accounts';
import { howToApprove } from '../error-hints';
import type { LunasCommand } from '../lunas-command';
import type { CommandAudit } from '../operator-identity';
import { id, joinOptions, oneOf, wholeNumber } from '../option-schemas';
import { formatTable, type CommandResult } from '../output';

const nmid = z.string().regex(/^ID\d{13}$/, { error: 'must be ID and 13 digits' });
const NMID_DESCRIPTION = "the merchant's national id, as the acquirer's dashboard shows it; each QR must have it";
const MAX_WEIGHT = 1_000;
/** How much of a server key's fingerprint is shown; `--json` shows all. */
const SHOWN_DIGITS = 12;
const MAX_CALLS_PER_SECOND = 10_000;
const ADD_EXAMPLE =
  'MIDTRANS_KEY=SB-Mid-server-… lunas accounts add --provider gopay --adapter midtrans --server-key-env MIDTRANS_KEY';

export function addAccountsCommand(program: LunasCommand): void {
  const accounts = program.command('accounts').description('provider accounts; merchants never see them');
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
      const account = await audit.record(DISABLE_ACCOUNT, accountId, () => disableAccount(audit.db, accountId));
      return { json: { account }, text: renderAccounts([account]) };
    });
  accounts
    .command('enable <account-id>')
    .description('use a provider account for new payments again')
    .writeAction(z.object({ accountId: id }), async ({ accountId }, audit) => {
      const account = await audit.record(ENABLE_ACCOUNT, accountId, () => enableAccount(audit.db, accountId));
      return { json: { account }, text: renderAccounts([account]) };
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
    nmid: nmid.optional(),
    weight: wholeNumber(1, MAX_WEIGHT),
  });
  accounts
    .command('add')
    .description('register a provider account; its server key is read from the environment and stored sealed')
    .requiredOption('--provider <provider>', joinOptions(PROVIDERS))
    .requiredOption('--adapter <adapter>', joinOptions(PAYMENT_ADAPTERS))
    .requiredOption('--server-key-env <name>', 'the environment variable that holds the server key')
    .option('--base-url <url>', "the acquirer's address (default: Midtrans, by the environment)")
    .option('--nmid <nmid>', NMID_DESCRIPTION)
    .option('--weight <n>', "share of new payments, relative to the provider's other accounts", '1')
    .examples(ADD_EXAMPLE)
    .writeAction(input, async ({ serverKeyEnv, ...given }, audit, context, environment) => {
      const serverKey = requireVariable(accounts.terminal.environment, serverKeyEnv);
      const sealer = await context.sealer(audit.db);
      const newAccount = { ...given, id: uuidv7(), serverKey, environment, isProposed: environment === 'production' };
      const account = await audit.record(ADD_ACCOUNT, newAccount.id, () => addAccount(audit.db, sealer, newAccount));
      return accountRequested(audit, account, `${account.provider} at ${account.baseUrl}`);
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
      async ({ adapter, baseUrl, credentialsEnv }, audit, context, environment) => {
        const credentials = requireVariable(accounts.terminal.environment, credentialsEnv, '--credentials-env');
        const sealer = await context.sealer(audit.db);
        const isProposed = environment === 'production';
        const newAccount = { id: uuidv7(), adapter, baseUrl, credentials, environment, isProposed };
        const account = await audit.record(ADD_ACCOUNT, newAccount.id, () =>
          addPayoutsAccount(audit.db, sealer, newAccount),
        );
        return accountRequested(audit, account, `payouts at ${account.baseUrl}`);
      },
    );
}

/** In production a second operator has to approve the account. */
async function accountRequested(audit: CommandAudit, account: ProviderAccount, target: string): Promise<CommandResult> {
  const { id: accountId, adapter, baseUrl, keyFingerprint, nmid } = account;
  const parameters = { accountId, adapter, baseUrl, keyFingerprint, nmid };
  const request = { action: 'account.create', target, parameters } as const;
  const approvalId = await requestApproval(audit, audit.actor, request, audit.note);
  const hint = approvalId === null ? '' : `\n\nIt is not used yet: ${howToApprove(approvalId)}`;
  return {
    json: { account, ...(approvalId !== null && { approvalId }) },
    text: `${renderAccounts([account])}${hint}`,
  };
}

function addSetKey(accounts: LunasCommand): void {
  accounts
    .command('set-key <account-id>')
    .description('replace the server key of a provider account; every process uses the new one within 2 seconds')
    .requiredOption('--server-key-env <name>', 'the environment variable that holds the new server key')
    .option('--nmid <nmid>', `${NMID_DESCRIPTION} (default: that of the account)`)
    .examples('MIDTRANS_KEY=SB-Mid-server-… lunas accounts set-key ACCOUNT_ID --server-key-env MIDTRANS_KEY')
    .writeAction(
      z.object({ accountId: id, serverKeyEnv: z.string(), nmid: nmid.optional() }),
      async ({ accountId, serverKeyEnv, nmid }, audit, context, environment) => {
        const serverKey = requireVariable(accounts.terminal.environment, serverKeyEnv);
        const sealer = await context.sealer(audit.db);
        const change = { accountId, serverKey, nmid };
        if (environment === 'production') await requestServerKey(audit, sealer, change);
        const account = await audit.record(SET_SERVER_KEY, accountId, () => setServerKey(audit.db, sealer, change));
        return { json: { account }, text: renderAccounts([account]) };
      },
    );
}

/** @throws ConflictError `approval_required` */
async function requestServerKey(audit: CommandAudit, sealer: Sealer, change: NewServerKey): Promise<never> {
  const { account, keyFingerprint, nmid } = await audit.record(PROPOSE_SERVER_KEY, change.accountId, () =>
    proposeServerKey(audit.db, sealer, change),
  );
  const target = `${account.provider} at ${account.baseUrl}, account ${account.id}`;
  const parameters = { accountId: account.id, keyFingerprint, nmid, previousNmid: account.nmid };
  await requireApproval(audit, audit.actor, { action: 'account.set_key', target, parameters }, audit.note);
  throw new Error('A server key of production was not approved');
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
        const callsPerSecond = perSecond === 0 ? null : perSecond;
        const account = await audit.record(SET_CALL_RATE, accountId, () =>
          setCallRate(audit.db, accountId, callsPerSecond),
        );
        return { json: { account }, text: renderAccounts([account]) };
      },
    );
}

function requireVariable(environment: NodeJS.ProcessEnv, name: string, option = '--server-key-env'): string {
  const value = environment[name];
  if (value) return value;
  throw new UserError(`${option} names ${name}, but no such environment variable is set.`);
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
      NMID: account.nmid,
      'SERVER KEY': account.keyFingerprint === null ? null : `${account.keyFingerprint.slice(0, SHOWN_DIGITS)}…`,
    })),
    'There is no provider account yet, so no payment can be created; see lunas accounts add.',
  );
}
