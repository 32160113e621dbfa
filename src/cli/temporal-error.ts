import { UserError } from '../errors';

const UNKNOWN = 'It is not known whether the action was executed: repeat it.';
const TEMPORAL_AWAY = `Temporal does not respond (lunas temporal check). ${UNKNOWN}`;

/** The action may be executed later. */
export class UnknownOutcomeError extends UserError {}

/** An UnknownOutcomeError if Temporal or its worker did not respond to a command that writes, else the error itself. */
export async function explainTemporalError(error: unknown): Promise<unknown> {
  if (error instanceof UserError) return error;
  // Imported on demand: Temporal's client takes as long to load as everything else.
  const { isWithoutResponse } = await import('../temporal/grpc-errors.js');
  const { MissingWorkerError } = await import('../temporal/missing-worker.js');
  if (error instanceof MissingWorkerError) {
    return new UnknownOutcomeError(
      `${capitalize(error.message)} (lunas doctor): an action waits until one does. ${UNKNOWN}`,
    );
  }
  return isWithoutResponse(error) ? new UnknownOutcomeError(TEMPORAL_AWAY) : error;
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
