import { status } from '@grpc/grpc-js';
import { isGrpcServiceError, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';

/** Whether the workflow or the search attribute exists already; another error may wrap this one. */
export function isAlreadyExists(error: unknown): boolean {
  return error instanceof WorkflowExecutionAlreadyStartedError || hasStatus(error, [status.ALREADY_EXISTS]);
}

/** Whether the server does not offer the operation: Temporal Cloud, for example, has no operator service. */
export function isUnsupported(error: unknown): boolean {
  return hasStatus(error, [status.UNIMPLEMENTED, status.PERMISSION_DENIED]);
}

/** At the deadline of a call, the server may reset its stream before the client ends it. No call is cancelled by us. */
const TIMEOUTS = [status.DEADLINE_EXCEEDED, status.CANCELLED];

/** Whether the server did not respond before the deadline of the call. */
export function isTimeout(error: unknown): boolean {
  return hasStatus(error, TIMEOUTS);
}

/** Whether the server may have executed the call although it did not respond. */
export function isWithoutResponse(error: unknown): boolean {
  return hasStatus(error, [...TIMEOUTS, status.UNAVAILABLE]);
}

/** Whether a worker may be missing. Temporal rejects a query if it has seen none of the task queue for minutes. */
export function mayLackWorker(error: unknown): boolean {
  return hasStatus(error, [...TIMEOUTS, status.UNAVAILABLE, status.FAILED_PRECONDITION]);
}

/** Whether the error, or one that it wraps, has one of the codes. */
export function hasStatus(error: unknown, codes: readonly status[]): boolean {
  if (isGrpcServiceError(error)) return codes.includes(error.code);
  return error instanceof Error && error.cause !== undefined && hasStatus(error.cause, codes);
}

/** The name of the code: `PERMISSION_DENIED`; undefined if no server sent it. */
export function statusNameOf(error: unknown): string | undefined {
  if (isGrpcServiceError(error)) return status[error.code];
  return error instanceof Error && error.cause !== undefined ? statusNameOf(error.cause) : undefined;
}
