import { ActivityFailure, proxyLocalActivities, TimeoutFailure } from '@temporalio/workflow';
import type { Activities } from '../activities';
import { INQUIRY_PERIOD_MS, type BankAccountInput, type BankAccountResult } from '../src/domain/bank-account-inquiry';
import { authentic } from './authentic';
import { OperatorView } from './operator-view';
import { regularActivities } from './regular-activities';
import { LOCAL_ACTIVITY_OPTIONS, UNLIMITED_RETRY } from './retry-policies';
import { runStep } from './run-step';

const INQUIRY = { summary: 'the name inquiry' } as const;

/**
 * Asks the bank for the holder of a merchant's bank account, for a day. Then the account waits for an operator, or is
 * rejected. The number of the account never passes through Temporal.
 */
export async function bankAccount(input: BankAccountInput): Promise<BankAccountResult> {
  const { bankAccountId, merchantId } = authentic(input);
  const view = new OperatorView(() => `Name inquiry of bank account ${bankAccountId}.`);
  const request = () => ({ bankAccountId, merchantId, atMs: Date.now() });
  const local = proxyLocalActivities<Activities>({ ...LOCAL_ACTIVITY_OPTIONS, ...INQUIRY });
  const retried = { ...UNLIMITED_RETRY, ...INQUIRY, scheduleToCloseTimeout: INQUIRY_PERIOD_MS };
  const ending = regularActivities({ ...UNLIMITED_RETRY, summary: 'end without a result of the bank' });
  try {
    const result = await runStep({
      local: () => local.inquireBankAccount(request()),
      regular: (before) => regularActivities({ ...retried, ...before }).inquireBankAccount(request()),
      onRetrying: () => view.setAttention('the bank gives no name; the pending activity shows why'),
      isInterrupted: () => false,
    });
    if (result === null) throw new Error('Nothing interrupts an inquiry');
    if (view.attentionReason !== null) view.setAttention(null);
    return result;
  } catch (error) {
    if (!hasExpired(error)) throw error;
    return authentic(await ending.endBankAccountInquiry(request()));
  }
}

/** The day is over. Any other failure is not the bank's: Temporal shows it. */
function hasExpired(error: unknown): boolean {
  if (!(error instanceof ActivityFailure)) return false;
  return error.retryState === 'TIMEOUT' || error.cause instanceof TimeoutFailure;
}
