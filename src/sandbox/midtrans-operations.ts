import { randomUUID } from 'node:crypto';
import type { Request } from 'express';
import { z } from 'zod';
import { ACQUIRER_NAMES, type AcquirerShop } from './acquirers';
import type { Ledger } from './ledger';
import { parseOrderTime } from './midtrans-time';
import { chargeResponse, errorResponse, refundResponse, stateResponse, type AcquirerResponse } from './responses';

/** Rp10,000,000: the limit of a QRIS payment. */
const MAX_GROSS_AMOUNT = 10_000_000;
const MAX_IDEMPOTENCY_KEY_LENGTH = 46;
const DEFAULT_EXPIRY_MS = 15 * 60 * 1000;
const UNIT_MS = { second: 1000, minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

const chargeSchema = z.object({
  payment_type: z.literal('qris'),
  transaction_details: z.object({
    order_id: z.string().regex(/^[A-Za-z0-9._~-]{1,50}$/, { error: 'must be 1 to 50 of A-Z a-z 0-9 . _ ~ -' }),
    gross_amount: z.int().min(1).max(MAX_GROSS_AMOUNT),
  }),
  qris: z.object({ acquirer: z.enum(ACQUIRER_NAMES).default('gopay') }).default({ acquirer: 'gopay' }),
  custom_expiry: z
    .object({
      order_time: z
        .string()
        .transform(parseOrderTime)
        .refine((time) => time !== undefined, { error: 'must be like 2020-09-29 11:46:13 +0700' })
        .optional(),
      expiry_duration: z.coerce.number().int().min(1),
      unit: z.enum(['second', 'minute', 'hour', 'day']).default('minute'),
    })
    .optional(),
});

const refundSchema = z.object({
  refund_key: z.string().min(1).max(255).optional(),
  amount: z.int().min(1).optional(),
  reason: z.string().max(255).default(''),
});

const DUPLICATE_ORDER =
  'The request could not be completed due to a conflict with the current state of the target resource, ' +
  'please try again';

const CLOSED_MESSAGES = { expire: 'Success, transaction has expired', cancel: 'Success, transaction is canceled' };

/** `POST /v2/charge`: 201, 406 for an existing order, 400. */
export async function charge(ledger: Ledger, shop: AcquirerShop, request: Request): Promise<AcquirerResponse> {
  const parsed = chargeSchema.safeParse(request.body);
  if (!parsed.success) return invalid(parsed.error);
  const { transaction_details, qris, custom_expiry } = parsed.data;
  const orderTime = custom_expiry?.order_time ?? new Date();
  const timeToLiveMs = custom_expiry ? custom_expiry.expiry_duration * UNIT_MS[custom_expiry.unit] : DEFAULT_EXPIRY_MS;
  const { outcome, order } = await ledger.charge({
    shop,
    orderId: transaction_details.order_id,
    grossAmountRupiah: transaction_details.gross_amount,
    acquirer: qris.acquirer,
    expiresAt: new Date(orderTime.getTime() + timeToLiveMs),
    notificationUrl: notificationUrlOf(request),
    idempotencyKey: idempotencyKeyOf(request),
  });
  // Midtrans allows a new charge for the id of an expired order. One charge per order makes a stricter oracle.
  if (outcome === 'duplicate') return duplicateOrder();
  return chargeResponse(order, `${request.protocol}://${request.host}`);
}

/** The response to a charge of an order that exists, under another idempotency key. */
export function duplicateOrder(): AcquirerResponse {
  return errorResponse('406', DUPLICATE_ORDER);
}

/** `GET /v2/:id/status`: the code of the order's status, or 404. Counts the call. */
export async function showStatus(ledger: Ledger, { serverKey }: AcquirerShop, id: string): Promise<AcquirerResponse> {
  const found = await ledger.findCounted(id, serverKey);
  return found ? stateResponse(found, 'Success, transaction is found') : notFound();
}

/** `POST /v2/:id/expire` and `/cancel`: 200, for an expired order 407, which is success too; 412, 404. */
export async function close(
  ledger: Ledger,
  { serverKey }: AcquirerShop,
  operation: 'expire' | 'cancel',
  id: string,
): Promise<AcquirerResponse> {
  const result = await ledger[operation](id, serverKey);
  if (!result) return notFound();
  return result.changed ? stateResponse(result.found, CLOSED_MESSAGES[operation]) : cannotModify();
}

/** `POST /v2/:id/refund`: 200 if accepted, 202 if rejected by the bank; 412, 414, 404, 400. */
export async function refund(
  ledger: Ledger,
  { serverKey }: AcquirerShop,
  { id, body, isRejected }: { readonly id: string; readonly body: unknown; readonly isRejected: boolean },
): Promise<AcquirerResponse> {
  const parsed = refundSchema.safeParse(body);
  if (!parsed.success) return invalid(parsed.error);
  const { refund_key: refundKey = randomUUID(), amount = null, reason } = parsed.data;
  const request = { refundKey, amountRupiah: amount, reason, reject: isRejected };
  const result = await ledger.refund(id, request, serverKey);
  if (!result) return notFound();
  if (result.outcome === 'not_refundable') return cannotModify();
  if (result.outcome === 'amount_too_high')
    return errorResponse('414', 'Refund request is rejected due to invalid amount');
  return refundResponse(result.found, result.refund);
}

export function notFound(): AcquirerResponse {
  return errorResponse('404', "Transaction doesn't exist.");
}

export function cannotModify(): AcquirerResponse {
  return errorResponse('412', 'Merchant cannot modify the status of the transaction');
}

function invalid(error: z.ZodError): AcquirerResponse {
  return {
    ...errorResponse('400', 'One or more parameters in the payload is invalid.'),
    validation_messages: error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`),
  };
}

/** Midtrans accepts up to three URLs in this header. A Lunas provider account sends one. */
function notificationUrlOf(request: Request): string | null {
  const url = request.get('x-override-notification')?.trim() ?? '';
  return /^https?:\/\//.test(url) && URL.canParse(url) ? url : null;
}

/** A key that is too long is ignored. */
function idempotencyKeyOf(request: Request): string | null {
  const key = request.get('idempotency-key') ?? '';
  return key !== '' && key.length <= MAX_IDEMPOTENCY_KEY_LENGTH ? key : null;
}
