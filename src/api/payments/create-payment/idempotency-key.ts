import { ApiError } from '../../../http/api-error';

/** 1 to 255 printable ASCII characters. */
export const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/;

/**
 * The `Idempotency-Key` of a request; null if it has none.
 * @throws ApiError `payment_create_failed` for a key that is not 1 to 255 printable ASCII characters
 */
export function parseIdempotencyKey(header: string | undefined): string | null {
  if (header === undefined) return null;
  if (IDEMPOTENCY_KEY.test(header)) return header;
  throw new ApiError('payment_create_failed', 'Idempotency-Key must be 1 to 255 printable ASCII characters.');
}
