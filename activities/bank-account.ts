import {
  findSealedBankAccount,
  listSameEnd,
  type InquiredBankAccount,
  type SealedBankAccount,
} from '../src/db/payouts/bank-accounts';
import {
  recordFailedInquiry,
  recordHolder,
  stopBankAccount,
  verifyBankAccount,
  type InquiredHolder,
} from '../src/db/transitions/bank-account-transitions';
import { NO_INQUIRY_RESULT, type BankAccountInput, type BankAccountResult } from '../src/domain/bank-account-inquiry';
import { FINAL_BANK_ACCOUNT_STATUSES } from '../src/domain/bank-account-transitions';
import { matchNames } from '../src/domain/holder-names';
import { openNumber } from './bank-account-number';
import type { ActivityDependencies } from './dependencies';
import { indeterminateError, inputRejectedError, noPayoutsAccountError } from './errors';
import { providerDeadline } from './provider-deadline';
import { unchecked } from './verify-terms';

/** The merchant and operators see it. */
const NUMBER_CHANGED_TEXT = 'The stored number is not the one that was added. Add the account again.';

interface InquiryRequest extends BankAccountInput {
  /** The workflow's clock, Unix time. */
  readonly atMs: number;
}

/**
 * Opens the number, asks the bank for its holder, and records the result: a proposal moves on, and of another account
 * only the holder is stored. An indeterminate outcome is repeated. Nothing of the number leaves this function.
 */
export async function inquireBankAccount(
  dependencies: ActivityDependencies,
  request: InquiryRequest,
): Promise<BankAccountResult> {
  const { db, payouts } = dependencies;
  const account = await findOwnAccount(dependencies, request);
  const { sealedNumber } = account;
  if (sealedNumber === null || FINAL_BANK_ACCOUNT_STATUSES.includes(account.status)) return { status: account.status };
  const bank = await payouts.findPayoutsAccount();
  if (!bank) throw noPayoutsAccountError();
  const at = new Date(request.atMs);
  const number = await openNumber(dependencies, { ...account, sealedNumber });
  if (number === undefined) {
    await recordRejection(dependencies, account, at, NUMBER_CHANGED_TEXT);
    return statusOf(dependencies, request);
  }
  const outcome = await bank.provider.inquireAccount({ bankCode: account.bankCode, number }, providerDeadline());
  if (outcome.outcome === 'indeterminate') throw indeterminateError(outcome);
  // A bank that rejects the request itself does not report that the account is wrong.
  if (outcome.outcome === 'rejected' && outcome.failureKind !== 'account') {
    throw indeterminateError({ outcome: 'indeterminate', reason: outcome.reason });
  }
  if (outcome.outcome === 'rejected') {
    await recordRejection(dependencies, account, at, outcome.reason);
  } else {
    const holder = {
      sealedHolderName: sealHolder(dependencies, account, outcome.holderName),
      nameMatch: matchNames(account.merchantName, outcome.holderName),
      sameNumberMerchants: await findSameNumber(dependencies, account, number),
    } satisfies InquiredHolder;
    if (account.status === 'pending_inquiry') await verifyBankAccount(db, changeOf(account, at), holder);
    else await recordHolder(db, account.id, at, holder);
  }
  return statusOf(dependencies, request);
}
inquireBankAccount.checked = unchecked(inquireBankAccount);

/** The bank gave no result for a day: the proposal is rejected. */
export async function endBankAccountInquiry(
  dependencies: ActivityDependencies,
  request: InquiryRequest,
): Promise<BankAccountResult> {
  const account = await findOwnAccount(dependencies, request);
  await recordRejection(dependencies, account, new Date(request.atMs), NO_INQUIRY_RESULT);
  return statusOf(dependencies, request);
}
endBankAccountInquiry.checked = unchecked(endBankAccountInquiry);

async function statusOf(dependencies: ActivityDependencies, request: InquiryRequest): Promise<BankAccountResult> {
  const { status } = await findOwnAccount(dependencies, request);
  return { status };
}

/** Temporal is not trusted: the account has to be one of the merchant. */
async function findOwnAccount(
  { db }: ActivityDependencies,
  { bankAccountId, merchantId }: InquiryRequest,
): Promise<InquiredBankAccount> {
  const account = await findSealedBankAccount(db, bankAccountId);
  if (account?.merchantId === merchantId) return account;
  throw inputRejectedError(`the merchant has no bank account ${bankAccountId}`);
}

function changeOf({ id, merchantId, version }: SealedBankAccount, at: Date) {
  return { id, merchantId, version, at, actor: 'workflow' } as const;
}

async function recordRejection(
  { db }: ActivityDependencies,
  account: SealedBankAccount,
  at: Date,
  reason: string,
): Promise<void> {
  if (account.status === 'pending_inquiry') await stopBankAccount(db, 'fail_inquiry', changeOf(account, at), reason);
  else await recordFailedInquiry(db, account.id, reason);
}

/** A name that is repeated keeps its sealed text, so that the statement that stores it sees another name. */
function sealHolder(
  { sealer }: ActivityDependencies,
  { id, sealedHolderName }: InquiredBankAccount,
  holderName: string,
): string {
  const binding = ['bank-account-holder', id] as const;
  if (sealedHolderName !== null && sealer.open(sealedHolderName, binding) === holderName) return sealedHolderName;
  return sealer.seal(holderName, binding);
}

/** Ids of other merchants that have or had the same account. */
async function findSameNumber(
  { db, sealer }: ActivityDependencies,
  account: SealedBankAccount,
  number: string,
): Promise<string[]> {
  const others = await listSameEnd(db, account);
  const same = others.filter(
    ({ id, merchantId, bankCode, sealedNumber }) =>
      sealedNumber !== null && sealer.open(sealedNumber, ['bank-account-number', id, merchantId, bankCode]) === number,
  );
  return [...new Set(same.map(({ merchantId }) => merchantId))];
}
