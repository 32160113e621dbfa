import { ConflictError } from '../../errors';
import { approvalRequired } from '../audit/request-approval';
import type { Reasons, Result } from './rejections';

/**
 * What was done, for a door that shows errors.
 * @throws ConflictError with the sentence of the rejection
 * @throws ConflictError `approval_required` with the id of the request, if a second operator has to approve it
 * @throws the error after which it is not known whether it was done
 */
export function requireDone<Value, R extends Reasons>(result: Result<Value, R>): Value {
  if (result.outcome === 'done') return result.value;
  if (result.outcome === 'waits') throw approvalRequired(result.approvalId);
  if (result.outcome === 'unknown') throw result.error;
  const { rejection, message } = result;
  throw new ConflictError(rejection.reason === 'superseded' ? 'superseded' : 'not_allowed', message);
}
