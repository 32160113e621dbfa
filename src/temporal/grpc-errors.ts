import { status } from '@grpc/grpc-js';
import { isGrpcServiceError, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';

/** Temporal says that this workflow, or this attribute, is there already; it may say so behind another error. */
export function isAlreadyExists(error: unknown): boolean {
  return error instanceof WorkflowExecutionAlreadyStartedError || hasStatus(error, [status.ALREADY_EXISTS]);
}

/** This server does not offer the operation to us, as Temporal Cloud does not offer its operator service. */
export function isUnsupported(error: unknown): boolean {
  return hasStatus(error, [status.UNIMPLEMENTED, status.PERMISSION_DENIED]);
}

function hasStatus(error: unknown, codes: readonly status[]): boolean {
  if (isGrpcServiceError(error)) return codes.includes(error.code);
  return error instanceof Error && error.cause !== undefined && hasStatus(error.cause, codes);
}
