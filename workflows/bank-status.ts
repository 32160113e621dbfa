import { BANK_STATUS_TIMEOUT_MS, type BankStatusInput, type BankStatusReport } from '../src/domain/bank-payout';
import { authentic } from './authentic';
import { regularActivities } from './regular-activities';

/** The query of an operator is not repeated: the operator sees the failure, and can ask again. */
const { findBankStatus } = regularActivities({
  startToCloseTimeout: BANK_STATUS_TIMEOUT_MS,
  scheduleToCloseTimeout: BANK_STATUS_TIMEOUT_MS,
  retry: { maximumAttempts: 1 },
  summary: 'query the bank',
});

/** Asks the bank for a payout, for operators: only the workers of payouts have what calls the bank. */
export async function bankStatus(input: BankStatusInput): Promise<BankStatusReport> {
  return authentic(await findBankStatus(authentic(input)));
}
