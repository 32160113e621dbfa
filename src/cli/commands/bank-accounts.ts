import { createInterface } from 'node:readline/promises';
import { z } from 'zod';
import type { Queryable } from '../../db/connection/pool';
import { findBankAccountRow, listAllBankAccounts, type BankAccountSummary } from '../../db/payouts/bank-accounts';
import type { ChangedBankAccount } from '../../db/transitions/bank-account-transitions';
import { BANK_CODES, BANKS, describeAccount } from '../../domain/banks';
import { ConflictError, UserError } from '../../errors';
import { requireDone } from '../../services/operations/require-done';
import { addBankAccount } from '../../services/payouts/add-bank-account';
import { approveBankAccount, reactivateBankAccount } from '../../services/payouts/approve-bank-account';
import { disableBankAccount } from '../../services/payouts/disable-bank-account';
import { showBankAccount, verifyBankAccount, type BankAccountDetails } from '../../services/payouts/show-bank-account';
import { rejectBankAccount, suspendBankAccount } from '../../services/payouts/stop-bank-account';
import { withTemporal, type CommandContext } from '../command-context';
import type { LunasCommand } from '../lunas-command';
import type { CommandAudit } from '../operator-identity';
import { id, limit, note, oneOf, textUpTo } from '../option-schemas';
import { formatFields, formatTable, type CommandResult } from '../output';
import { runOperation } from '../run-operation';

const MAX_NAME_CHARACTERS = 200;
const NOTE_OF_MERCHANT = 'why; the merchant sees it';

export function defineBankAccounts(accounts: LunasCommand): void {
  addList(accounts);
  accounts
    .command('show <account-id>')
    .description("show an account with both names, the merchant's and the bank's; the number is never shown")
    .writeAction(z.object({ accountId: id }), async ({ accountId }, audit, context) => {
      const needs = await needsOf(audit, context);
      return detailsOf(requireDone(await runOperation(audit, showBankAccount, needs, on(accountId))));
    });
  addAdd(accounts);
  addApprove(accounts);
  addVerify(accounts);
  addStops(accounts);
}

function addList(accounts: LunasCommand): void {
  accounts
    .command('list')
    .description('list the bank accounts, the newest first, without the names of holders')
    .option('--merchant <merchant-id>', 'only of this merchant')
    .option('--waiting', 'only those that wait for the bank or for an operator')
    .option('--limit <n>', 'maximum number', '50')
    .databaseAction(
      z.object({ merchant: id.optional(), waiting: z.boolean().default(false), limit }),
      async ({ merchant, waiting, limit }, db) => {
        const query = { merchantId: merchant ?? null, onlyWaiting: waiting, limit };
        const bankAccounts = await listAllBankAccounts(db, query);
        return { json: { bankAccounts }, text: renderList(bankAccounts) };
      },
    );
}

function renderList(accounts: readonly BankAccountSummary[]): string {
  const rows = accounts.map((account) => ({
    ID: account.id,
    MERCHANT: account.merchantName,
    ACCOUNT: describeAccount(account.bankCode, account.lastFour),
    NAMES: account.nameMatch,
    STATUS: account.status,
    'USABLE FROM': account.usableFrom,
    PROPOSED: account.createdAt,
  }));
  return formatTable(rows, 'There is no bank account.');
}

function addAdd(accounts: LunasCommand): void {
  accounts
    .command('add')
    .description('propose an account for a merchant; the number is read from a prompt, standard input or a variable')
    .requiredOption('--merchant <merchant-id>', 'the merchant')
    .requiredOption('--bank <code>', BANK_CODES.map((code) => `${code} ${BANKS[code]}`).join(', '))
    .option('--number-env <name>', 'the environment variable that holds the account number')
    .examples('lunas bank-accounts add --merchant MERCHANT_ID --bank 014')
    .writeAction(
      z.object({ merchant: id, bank: oneOf(BANK_CODES), numberEnv: z.string().optional() }),
      async ({ merchant, bank, numberEnv }, audit, context) => {
        const number = await readNumber(accounts.terminal.environment, numberEnv);
        const needs = await needsOf(audit, context);
        const call = { path: { merchant }, input: { bankCode: bank, number } };
        return withTemporal(context, audit.db, async (workflows) => {
          const accountId = requireDone(await runOperation(audit, addBankAccount, { ...needs, workflows }, call));
          const name = describeAccount(bank, number.slice(-4));
          return { json: { accountId }, text: `${name} is proposed, account ${accountId}. The bank is asked.` };
        });
      },
    );
}

/** The account number is no argument: the shell's history and the list of processes would have it. */
async function readNumber(environment: NodeJS.ProcessEnv, name: string | undefined): Promise<string> {
  if (name !== undefined) {
    const value = environment[name];
    if (value) return value.trim();
    throw new UserError(`--number-env names ${name}, but no such environment variable is set.`);
  }
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await prompt.question(process.stdin.isTTY ? 'Account number: ' : '')).trim();
  } finally {
    prompt.close();
  }
}

function addApprove(accounts: LunasCommand): void {
  accounts
    .command('approve <account-id>')
    .description('approve a proposal; in production a second operator approves the request')
    .option('--confirm-name <name>', "the holder's name as the bank reports it, if it is not the merchant's")
    .examples('lunas bank-accounts approve ACCOUNT_ID --confirm-name "SRI RAHAYU" --note "passport seen"')
    .writeAction(
      z.object({ accountId: id, confirmName: textUpTo(MAX_NAME_CHARACTERS).optional() }),
      async ({ accountId, confirmName }, audit, context) => {
        const call = { ...on(accountId), input: { confirmedName: confirmName } };
        const result = await runOperation(audit, approveBankAccount, await needsOf(audit, context), call);
        if (result.outcome === 'rejected' && result.rejection.reason === 'name_not_confirmed') {
          throw new ConflictError('name_not_confirmed', result.message, { accountId });
        }
        const { status, replacedId } = requireDone(result);
        const replaced = replacedId === null ? '' : ` It replaces account ${replacedId}.`;
        const text = `${await activeText(audit.db, accountId)}${replaced}`;
        return { json: { accountId, status, replacedId }, text };
      },
    );
  accounts
    .command('reactivate <account-id>')
    .description('use a suspended account again, after an inquiry of the last 24 hours; as approve')
    .writeAction(z.object({ accountId: id }), async ({ accountId }, audit) => {
      const { status } = requireDone(await runOperation(audit, reactivateBankAccount, audit, on(accountId)));
      return { json: { accountId, status }, text: await activeText(audit.db, accountId) };
    });
}

/** An account receives nothing in its cool-down. */
async function activeText(db: Queryable, accountId: string): Promise<string> {
  const usableFrom = (await findBankAccountRow(db, accountId, null))?.usableFrom;
  return `The account is active, and receives payouts from ${usableFrom?.toISOString()}.`;
}

function addVerify(accounts: LunasCommand): void {
  accounts
    .command('verify <account-id>')
    .description("ask the bank for the holder's name again, and wait for it")
    .writeAction(z.object({ accountId: id }), async ({ accountId }, audit, context) => {
      const needs = await needsOf(audit, context);
      return withTemporal(context, audit.db, async (workflows) => {
        const result = await runOperation(audit, verifyBankAccount, { ...needs, workflows }, on(accountId));
        return detailsOf(requireDone(result));
      });
    });
}

function addStops(accounts: LunasCommand): void {
  const input = z.object({ accountId: id, note });
  accounts
    .command('reject <account-id>')
    .description('reject a proposal')
    .requiredOption('--note <text>', NOTE_OF_MERCHANT)
    .writeAction(input, async ({ accountId }, audit) =>
      changedResult(accountId, requireDone(await runOperation(audit, rejectBankAccount, audit, on(accountId)))),
    );
  accounts
    .command('suspend <account-id>')
    .description('stop payouts to the account in use, until it is reactivated')
    .requiredOption('--note <text>', NOTE_OF_MERCHANT)
    .writeAction(input, async ({ accountId }, audit) =>
      changedResult(accountId, requireDone(await runOperation(audit, suspendBankAccount, audit, on(accountId)))),
    );
  accounts
    .command('disable <account-id>')
    .description('end the use of an account, for good')
    .writeAction(z.object({ accountId: id }), async ({ accountId }, audit) =>
      changedResult(accountId, requireDone(await runOperation(audit, disableBankAccount, audit, on(accountId)))),
    );
}

async function needsOf({ db, log }: CommandAudit, context: CommandContext) {
  return { db, log, sealer: await context.sealer(db) };
}

const on = (bankAccountId: string) => ({ path: { bankAccountId }, input: {} });

function changedResult(accountId: string, { status }: ChangedBankAccount): CommandResult {
  return { json: { accountId, status }, text: `The account is ${status}.` };
}

function detailsOf(account: BankAccountDetails): CommandResult {
  const fields = formatFields({
    Account: account.id,
    Bank: describeAccount(account.bankCode, account.lastFour),
    Merchant: `${account.merchantName} (${account.merchantId})`,
    'Name at the bank': account.holderName,
    'Names are': account.nameMatch,
    'Same account at': account.sameNumberMerchants,
    Status: account.status,
    Reason: account.failureReason,
    'Proposed by': account.proposerName ?? account.proposedBy,
    'Inquired at': account.inquiredAt,
    'Usable from': account.usableFrom,
  });
  const steps = formatTable(
    account.steps.map(({ occurredAt, name, actor, note }) => ({ TIME: occurredAt, STEP: name, BY: actor, NOTE: note })),
    'It has no history.',
  );
  return { json: { bankAccount: account }, text: `${fields}\n\n${steps}` };
}
