import { observeDuration } from '../../observability/metrics';
import type { CallWrapper, PayoutOperation, ProviderOperation } from './wrap-calls';

/** The accounts that have series of their own. An installation has a few; a mistake must not fill Prometheus. */
const MAX_ACCOUNTS = 8;
const knownAccounts = new Set<string>();

/** The names of the calls in metrics and log lines. */
export const OPERATION_LABELS = {
  issueQris: 'issue_qris',
  findPayment: 'find_payment',
  expirePayment: 'expire_payment',
  cancelPayment: 'cancel_payment',
  refundPayment: 'refund_payment',
  inquireAccount: 'inquire_account',
  prepareSend: 'prepare_send',
  sendPayout: 'send_payout',
  findPayout: 'find_payout',
} as const satisfies Record<ProviderOperation | PayoutOperation, string>;

/** Records the duration and the outcome of each call to a provider account in the metrics. */
export function measureCalls(accountId: string): CallWrapper {
  const account = accountLabel(accountId);
  return async (_, work, { operation }) => {
    const startedMs = performance.now();
    const result = await work();
    // The acquirer rejects every order of the account, or makes each one unusable, and not only this one.
    const isOfAccount = 'merchantReason' in result || 'stopsAccount' in result;
    const outcome = isOfAccount ? 'account_rejected' : result.outcome;
    const labels = { account, operation: OPERATION_LABELS[operation], outcome };
    observeDuration('lunas_provider_request_duration_seconds', labels, performance.now() - startedMs);
    return result;
  };
}

/** The value of the label `account`. */
export function accountLabel(accountId: string): string {
  if (knownAccounts.size < MAX_ACCOUNTS) knownAccounts.add(accountId);
  return knownAccounts.has(accountId) ? accountId : 'other';
}
