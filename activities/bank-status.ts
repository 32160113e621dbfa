import { findRecordedPayout } from '../src/db/payouts/find-payout';
import type { BankStatusInput, BankStatusReport } from '../src/domain/bank-payout';
import { findReport } from './bank-payout';
import type { ActivityDependencies } from './dependencies';
import { inputRejectedError } from './errors';
import { unchecked } from './verify-terms';

/** Asks the bank for a payout, and records nothing. The payout's row decides which bank and which reference. */
export async function findBankStatus(
  dependencies: ActivityDependencies,
  { payoutId, merchantId }: BankStatusInput,
): Promise<BankStatusReport> {
  const recorded = await findRecordedPayout(dependencies.db, payoutId);
  if (recorded?.terms.merchantId !== merchantId) throw inputRejectedError(`the merchant has no payout ${payoutId}`);
  const { outcome: report } = await findReport(dependencies, recorded);
  if (report.outcome !== 'found') return report;
  const { status, amountRupiah, accountLastFour, bankReference, reason } = report.payout;
  return { outcome: 'found', status, amountRupiah, accountLastFour, bankReference, reason };
}
findBankStatus.checked = unchecked(findBankStatus);
