import { UserError } from '../errors';

const OUTCOME_UNKNOWN =
  'Temporal does not respond (lunas temporal check). It is not known whether the action was executed: repeat it.';

/** A UserError if Temporal did not respond to a command that writes, else the error itself. */
export async function explainTemporalError(error: unknown): Promise<unknown> {
  if (error instanceof UserError) return error;
  // Imported on demand: Temporal's client takes as long to load as everything else.
  const { isWithoutResponse } = await import('../temporal/grpc-errors.js');
  return isWithoutResponse(error) ? new UserError(OUTCOME_UNKNOWN) : error;
}
