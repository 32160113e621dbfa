import { status } from '@grpc/grpc-js';
import { isGrpcServiceError, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';

/** Temporal says that this workflow, or this attribute, is there already; it may say so behind another error. */
export function isAlreadyExists(error: unknown): boolean {
  if (error instanceof WorkflowExecutionAlreadyStartedError) return true;
  if (isGrpcServiceError(error)) return error.code === status.ALREADY_EXISTS;
  return error instanceof Error && error.cause !== undefined && isAlreadyExists(error.cause);
}
