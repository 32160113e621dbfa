import type { Request } from 'express';
import { validate as isUuid } from 'uuid';
import { z } from 'zod';
import { referencePattern } from '../../crypto/reference-id';
import type { ApiErrorCode } from '../../domain/errors';
import { ConflictError, NotFoundError, UserError } from '../../errors';
import { ApiError } from '../../http/api-error';
import { readJsonBody } from '../../http/strict-json';
import { parsePathId } from '../../services/payments/path-id';
import { boundedText } from '../max-length';
import { requireObject } from '../payments/create-payment/payment-request';
import { describeViolation } from '../read-query';

const MAX_NOTE_CHARACTERS = 500;

/** Every operator action has a note with its reason. */
export const noteSchema = z.object({
  note: boundedText(MAX_NOTE_CHARACTERS).refine((text) => text.trim() !== '', { error: 'must not be empty' }),
});

/** The body of an action. @throws ApiError `invalid_json` that names the field and its rule */
export function parseActionBody<Schema extends z.ZodType>(request: Request, schema: Schema): z.output<Schema> {
  const parsed = schema.safeParse(requireObject(readJsonBody(request)));
  if (parsed.success) return parsed.data;
  throw new ApiError('invalid_json', describeViolation(parsed.error));
}

/** The page size. */
export const limitSchema = z
  .string()
  .regex(/^[1-9]\d{0,2}$/, { error: 'must be a whole number from 1 to 999' })
  .transform(Number)
  .default(50);

/** @returns the payment's id or reference_id @throws ApiError `not_found` */
export function paymentInPath({ params }: Request): string {
  const key = parsePathId(String(params.id));
  if (!key) throw new ApiError('not_found', 'There is no such payment.');
  return 'id' in key ? key.id : key.referenceId;
}

const PAYOUT_REFERENCE = referencePattern('LP');

/** @returns the payout's id or reference_id @throws ApiError `not_found` */
export function payoutInPath({ params }: Request): string {
  const id = String(params.id);
  if (isUuid(id) || PAYOUT_REFERENCE.test(id)) return id;
  throw new ApiError('not_found', 'There is no such payout.');
}

/** @throws ApiError `not_found` */
export function uuidInPath({ params }: Request): string {
  const id = String(params.id);
  if (!isUuid(id)) throw new ApiError('not_found');
  return id.toLowerCase();
}

/**
 * Converts the errors of the operator actions to API errors.
 * @param code of an action that is not possible; docs/contract.md#errors is closed: message and header have the reason
 */
export async function mapErrors<Result>(code: ApiErrorCode, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof NotFoundError) throw new ApiError('not_found', error.message);
    if (error instanceof ConflictError) {
      throw new ApiError(code, error.message, { headers: { 'X-Error-Reason': error.reason } });
    }
    if (error instanceof UserError) throw new ApiError(code, error.message);
    throw error;
  }
}
