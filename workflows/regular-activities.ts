import { proxyActivities, type ActivityOptions } from '@temporalio/workflow';
import type { Activities } from '../activities';

/**
 * Activities that Temporal retries and shows. A workflow that cancels one continues only when no attempt is in flight.
 * The SDK documents that as its default, and does not do it
 * (docs/temporal-sdk-cancellation-type.md).
 */
export function regularActivities(options: ActivityOptions) {
  return proxyActivities<Activities>({ cancellationType: 'WAIT_CANCELLATION_COMPLETED', ...options });
}
