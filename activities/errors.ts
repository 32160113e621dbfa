import { ApplicationFailure } from '@temporalio/activity';
import { PROVIDER_INDETERMINATE } from '../src/domain/retried-step';
import type { Indeterminate, Rejected } from '../src/providers/provider';

/*
 * All failures that activities throw on purpose. Each one but `InputRejected` is retryable: Temporal repeats the
 * attempt by the workflow's policy. Any other error, such as a lost database connection, is retried too.
 */

/** The input did not come from Lunas, or contradicts PostgreSQL. The workflow fails, and an operator can see why. */
export function inputRejectedError(reason: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`The input of the activity is rejected: ${reason}`, 'InputRejected');
}

/** The provider may or may not have executed the request. The next attempt queries the order first. */
export function indeterminateError({ reason }: Indeterminate): ApplicationFailure {
  return ApplicationFailure.retryable(`The provider's outcome is indeterminate: ${reason}`, PROVIDER_INDETERMINATE);
}

/** A payment without a QR code must not fail while its order can be paid. */
export function orderStillOpenError({ reason }: Rejected): ApplicationFailure {
  return ApplicationFailure.retryable(
    `The provider has the order and cannot expire it: ${reason}`,
    'ProviderOrderStillOpen',
  );
}

/** @param delaySeconds until the next attempt, by the retry policy of webhooks */
export function webhookDeliveryError(message: string, delaySeconds?: number): ApplicationFailure {
  return ApplicationFailure.create({
    message,
    type: 'WebhookDeliveryFailed',
    ...(delaySeconds !== undefined && { nextRetryDelay: Math.round(delaySeconds * 1_000) }),
  });
}

/** No payouts account is enabled: an operator adds one, and the next attempt uses it. */
export function noPayoutsAccountError(): ApplicationFailure {
  return ApplicationFailure.retryable('No payouts account is enabled: an operator has to add one', 'NoPayoutsAccount');
}
