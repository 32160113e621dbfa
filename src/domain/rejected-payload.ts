/**
 * What a worker reads instead of a payload of Temporal that is not authentic. An error there would fail the workflow
 * task, which Temporal repeats without limit: a stranger could stop any payment with one message.
 */
export interface RejectedPayload {
  readonly rejectedPayload: string;
}

/** Why the payload was rejected; null if the value is not a rejected payload. */
export function payloadRejection(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || !('rejectedPayload' in value)) return null;
  return String(value.rejectedPayload);
}
