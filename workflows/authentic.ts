import { ApplicationFailure } from '@temporalio/workflow';
import { payloadRejection } from '../src/domain/rejected-payload';

/**
 * The value, if it is authentic.
 * @throws ApplicationFailure if the codec rejected its payload, or there is none: it fails the workflow
 */
export function authentic<Value>(value: Value): Value {
  const rejection = value === undefined ? 'it is missing' : payloadRejection(value);
  if (rejection === null) return value;
  throw ApplicationFailure.nonRetryable(`A payload is not authentic: ${rejection}`, 'PayloadRejected');
}
