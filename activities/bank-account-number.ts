import { openFixed } from '../src/crypto/fixed-value';
import type { ActivityDependencies } from './dependencies';

/** A bank account with its sealed number. */
interface NumberedAccount {
  readonly id: string;
  readonly merchantId: string;
  readonly bankCode: string;
  readonly lastFour: string;
  readonly sealedNumber: string;
  readonly numberHmac: string;
}

/** For operators: why no call is made. */
export const NUMBER_CHANGED =
  'The number of the bank account is not the one that was proposed: the database was changed. Cancel the payout, ' +
  'disable the account, and find out by whom.';

/**
 * Opens the number of a bank account for a call to the bank. The number that two operators approved is the one that is
 * used: its hash and its last digits are in columns that never change.
 * @returns undefined if it is another number. Then no call may be made
 */
export async function openNumber(
  { db, sealer, log }: Pick<ActivityDependencies, 'db' | 'sealer' | 'log'>,
  { id, merchantId, bankCode, lastFour, sealedNumber, numberHmac }: NumberedAccount,
): Promise<string | undefined> {
  const fixed = { sealed: sealedNumber, hash: numberHmac };
  const number = await openFixed({ db, sealer }, fixed, ['bank-account-number', id, merchantId, bankCode]);
  if (number?.endsWith(lastFour)) return number;
  log.error({ bankAccountId: id, merchantId }, 'bank account number changed');
  return undefined;
}
