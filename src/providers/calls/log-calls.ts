import type { Logger } from '../../observability/logger';
import { OPERATION_LABELS } from './measure-calls';
import type { CallWrapper } from './wrap-calls';

/**
 * Logs each call to a provider account in one line, with the ids of its request and its payment. A call that was not
 * made, because of the account's limit, has a line too.
 */
export function logCalls(accountId: string, log: Pick<Logger, 'info'>): CallWrapper {
  return async (_, work, { operation, referenceId }) => {
    const startedMs = performance.now();
    const result = await work();
    const call = { accountId, referenceId, operation: OPERATION_LABELS[operation] };
    const durationMs = Math.round(performance.now() - startedMs);
    log.info({ ...call, ...describe(result), durationMs }, 'provider call');
    return result;
  };
}

/** Codes and the acquirer's reason; nothing that a customer entered. */
function describe(result: { readonly outcome: string }): Record<string, unknown> {
  const { outcome } = result;
  if ('reason' in result) return { outcome, reason: result.reason };
  const payment = 'payment' in result ? result.payment : null;
  const isFound = typeof payment === 'object' && payment !== null && 'status' in payment;
  return isFound ? { outcome, status: payment.status } : { outcome };
}
