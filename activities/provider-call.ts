import { ApplicationFailure, Context } from '@temporalio/activity';
import type { ProviderCall, Unclear } from '../src/providers/provider';

/** No activity makes more than three calls, so the last one ends before the attempt's own time-out. */
const SHARE_OF_ATTEMPT = 0.3;

/** A call to the provider on behalf of the running activity: it ends with it, and never outlives it. */
export function providerCall(): ProviderCall {
  const { cancellationSignal, info } = Context.current();
  return { signal: cancellationSignal, deadlineMs: info.startToCloseTimeoutMs * SHARE_OF_ATTEMPT };
}

/** An unclear outcome fails the attempt: the next one looks the order up first. */
export function unclear(outcome: Unclear): ApplicationFailure {
  return ApplicationFailure.retryable(`The provider is unclear: ${outcome.reason}`, 'ProviderUnclear');
}
