import { createInterface } from 'node:readline/promises';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import type { Queryable } from '../../db/connection/pool';
import { findBankAccountRow, listAllBankAccounts, type BankAccountSummary } from '../../db/payouts/bank-accounts';
import { BANK_CODES, BANKS, describeAccount } from '../../domain/banks';
import { UserError } from '../../errors';
import {
  addBankAccountByOperator,
  approveBankAccount,
  disableBankAccountByOperator,
  reactivateBankAccount,
  rejectBankAccount,
  showBankAccount,
  suspendBankAccount,
  verifyBankAccountByOperator,
  type BankAccountDetails,
} from '../../services/payouts/bank-account-operations';
import { withTemporal, type CommandContext } from '../command-context';
import type { LunasCommand } from '../lunas-command';
import type { CommandAudit } from '../operator-identity';
import { id, limit, note, oneOf, textUpTo } from '../option-schemas';
import { formatFields, formatTable, type CommandResult } from '../output';

const MAX_NAME_CHARACTERS = 200;
const NOTE_OF_MERCHANT = 'why; the merchant sees it';

export function addBankAccountsCommand(program: LunasCommand): void {
  const accounts = program.command('bank-accounts').description('accounts of merchants that receive payouts');
  addList(accounts);
  accounts
    .command('show <account-id>')
    .description("show an account with both names, the merchant's and the bank's; the number is never shown")
    .writeAction(z.object({ accountId: id }), async ({ accountId }, audit, context) => {
      const request = { id: accountId, note: noteOf(audit) };
      return detailsOf(await showBankAccount(await dependenciesOf(audit, context), audit.actor, request));
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
        const accountId = uuidv7();
        const dependencies = await dependenciesOf(audit, context);
        return withTemporal(context, audit.db, async ({ bankAccounts }) => {
          const startInquiry = bankAccounts.start.bind(bankAccounts);
          const proposed = { id: accountId, bankCode: bank, number };
          await addBankAccountByOperator(
            { ...dependencies, startInquiry },
            audit.actor,
            merchant,
            proposed,
            noteOf(audit),
          );
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
        const dependencies = await dependenciesOf(audit, context);
        const request = { id: accountId, note: noteOf(audit), confirmedName: confirmName };
        const { status, replacedId } = await approveBankAccount(dependencies, audit.actor, request);
        const replaced = replacedId === null ? '' : ` It replaces account ${replacedId}.`;
        const text = `${await activeText(audit.db, accountId)}${replaced}`;
        return { json: { accountId, status, replacedId }, text };
      },
    );
  accounts
    .command('reactivate <account-id>')
    .description('use a suspended account again, after an inquiry of the last 24 hours; as approve')
    .writeAction(z.object({ accountId: id }), async ({ accountId }, audit, context) => {
      const request = { id: accountId, note: noteOf(audit) };
      const { status } = await reactivateBankAccount(await dependenciesOf(audit, context), audit.actor, request);
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
      const dependencies = await dependenciesOf(audit, context);
      return withTemporal(context, audit.db, async ({ bankAccounts }) => {
        const startInquiry = bankAccounts.inquire.bind(bankAccounts);
        const request = { id: accountId, note: noteOf(audit) };
        return detailsOf(await verifyBankAccountByOperator({ ...dependencies, startInquiry }, audit.actor, request));
      });
    });
}

function addStops(accounts: LunasCommand): void {
  const input = z.object({ accountId: id, note });
  accounts
    .command('reject <account-id>')
    .description('reject a proposal')
    .requiredOption('--note <text>', NOTE_OF_MERCHANT)
    .writeAction(input, async ({ accountId, note }, audit) => {
      const changed = await rejectBankAccount(audit, audit.actor, { id: accountId, note });
      return changedResult(accountId, changed.status);
    });
  accounts
    .command('suspend <account-id>')
    .description('stop payouts to the account in use, until it is reactivated')
    .requiredOption('--note <text>', NOTE_OF_MERCHANT)
    .writeAction(input, async ({ accountId, note }, audit) => {
      const changed = await suspendBankAccount(audit, audit.actor, { id: accountId, note });
      return changedResult(accountId, changed.status);
    });
  accounts
    .command('disable <account-id>')
    .description('end the use of an account, for good')
    .writeAction(z.object({ accountId: id }), async ({ accountId }, audit) => {
      const request = { id: accountId, note: noteOf(audit) };
      const changed = await disableBankAccountByOperator(audit, audit.actor, request);
      return changedResult(accountId, changed.status);
    });
}

async function dependenciesOf(audit: CommandAudit, context: CommandContext) {
  return { db: audit.db, log: audit.log, sealer: await context.sealer(audit.db) };
}

/** Only a sandbox accepts a command without a note. */
function noteOf({ note }: CommandAudit): string {
  return note ?? '';
}

function changedResult(accountId: string, status: string): CommandResult {
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
