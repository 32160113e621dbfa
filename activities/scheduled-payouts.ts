import { Context } from '@temporalio/activity';
import type { ScheduledPayouts, ScheduledPayoutsPart } from '../src/domain/payout-schedule';
import type { ActivityDependencies } from './dependencies';
import { unchecked } from './verify-terms';

/** Requests the payouts of a page of merchants who are due. A repeated call requests what is not requested yet. */
export function requestScheduledPayouts(
  dependencies: ActivityDependencies,
  part: ScheduledPayoutsPart,
): Promise<ScheduledPayouts> {
  const context = Context.current();
  const { attempt } = context.info;
  return dependencies.requestScheduledPayouts(part, { attempt, onProgress: () => context.heartbeat() });
}
requestScheduledPayouts.checked = unchecked(requestScheduledPayouts);
