import { subjectLogId } from '../domain/subject';
import type { Logger } from '../observability/logger';
import type { Delivery } from './outbox';
import { MAX_ATTEMPTS, type RetryDecision } from './retry-policy';
import type { WebhookAttempt } from './send';

/** An attempt of a delivery, and what follows from it. */
export interface DecidedAttempt {
  readonly delivery: Delivery;
  readonly attempt: WebhookAttempt;
  /** The number in the retry cycle, from 1. */
  readonly number: number;
  readonly decision: RetryDecision;
}

/** Logs an attempt of a webhook in one line. Its receiver's response is not in it: it may have personal data. */
export function logAttempt(log: Pick<Logger, 'info'>, { delivery, attempt, number, decision }: DecidedAttempt): void {
  const { deliveryId, endpointId, merchantId, subject, referenceId, event } = delivery;
  const { statusCode, failure, durationMs } = attempt;
  const ids = { deliveryId, endpointId, merchantId, ...subjectLogId(subject), referenceId, event };
  const result = { attempt: number, maxAttempts: MAX_ATTEMPTS, statusCode, failure, durationMs };
  log.info({ ...ids, ...result, ...describe(decision) }, 'webhook attempt');
}

function describe(decision: RetryDecision): Record<string, string> {
  switch (decision.next) {
    case 'delivered':
      return { decision: decision.next };
    case 'dead':
      return { decision: decision.next, deadReason: decision.reason };
    case 'retry': {
      const nextAttemptAt = new Date(Date.now() + 1_000 * decision.delaySeconds);
      return { decision: decision.next, nextAttemptAt: nextAttemptAt.toISOString() };
    }
  }
}
