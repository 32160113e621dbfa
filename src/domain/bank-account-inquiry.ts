import type { BankAccountStatus } from './bank-account-transitions';

/** The account of a name inquiry, and the merchant to which it has to belong. Its number is only in PostgreSQL. */
export interface BankAccountInput {
  readonly bankAccountId: string;
  readonly merchantId: string;
}

/** The account after its inquiry. */
export interface BankAccountResult {
  readonly status: BankAccountStatus;
}

/** The bank has a day to report a name. */
export const INQUIRY_PERIOD_MS = 86_400_000;
export const NO_INQUIRY_RESULT = 'The bank gives no result.';
