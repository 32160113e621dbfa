import { observeDuration } from '../metrics/metrics';
import type { Provider } from './provider';

/** The accounts that have series of their own. An installation has a few; a mistake must not fill Prometheus. */
const MAX_ACCOUNTS = 8;
const knownAccounts = new Set<string>();

/** The same provider account, with the duration and the outcome of each call in the metrics. */
export function measureCalls(provider: Provider, accountId: string): Provider {
  const account = accountLabel(accountId);
  const measure = async <Outcome extends { readonly outcome: string }>(
    operation: string,
    call: Promise<Outcome>,
  ): Promise<Outcome> => {
    const startedMs = performance.now();
    const result = await call;
    const labels = { account, operation, outcome: result.outcome };
    observeDuration('lunas_provider_request_duration_seconds', labels, performance.now() - startedMs);
    return result;
  };
  return {
    issueQris: (request, call) => measure('issue_qris', provider.issueQris(request, call)),
    findPayment: (referenceId, call) => measure('find_payment', provider.findPayment(referenceId, call)),
    expirePayment: (referenceId, call) => measure('expire_payment', provider.expirePayment(referenceId, call)),
    cancelPayment: (referenceId, call) => measure('cancel_payment', provider.cancelPayment(referenceId, call)),
    refundPayment: (request, call) => measure('refund_payment', provider.refundPayment(request, call)),
    verifyNotification: (notification) => provider.verifyNotification(notification),
  };
}

function accountLabel(accountId: string): string {
  if (knownAccounts.size < MAX_ACCOUNTS) knownAccounts.add(accountId);
  return knownAccounts.has(accountId) ? accountId : 'other';
}
