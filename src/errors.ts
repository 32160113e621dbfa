import { types } from 'node:util';

/** An error that the user of the command can correct: printed as one line, without a stack. */
export class UserError extends Error {
  override readonly name = 'UserError';
}

/** The named object does not exist, or no longer accepts the operation. */
export class NotFoundError extends UserError {}

/** The message of a thrown value. An error without a message, such as an aborted request, is described by its name. */
export function messageOf(error: unknown): string {
  // `instanceof` fails for errors of another realm: Jest gives each test file its own.
  return error instanceof Error || types.isNativeError(error) ? error.message || error.name : String(error);
}

/** The code that Node.js (`ECONNREFUSED`) or PostgreSQL (`42P01`) gave the error; undefined if it has none. */
export function codeOf(error: unknown): string | undefined {
  const hasCode = typeof error === 'object' && error !== null && 'code' in error;
  return hasCode && typeof error.code === 'string' ? error.code : undefined;
}
