import { z } from 'zod';
import type { ProviderPaymentStatus } from '../../domain/provider-status';
import { absentOr, digits, hex, optional, reference, rupiah, shown, statusWord, time } from '../../lib/fields';

/**
 * Midtrans' statuses of a QRIS order (docs: "Transaction Status Cycle") and ours. A chargeback has none: no rule of
 * ours covers it.
 */
const STATUSES = {
  pending: 'pending',
  authorize: 'pending',
  settlement: 'paid',
  capture: 'paid',
  refund: 'refunded',
  partial_refund: 'refunded',
  expire: 'expired',
  cancel: 'cancelled',
  deny: 'denied',
  failure: 'denied',
} as const satisfies Record<string, ProviderPaymentStatus>;

const MAX_STATUS_MESSAGE_LENGTH = 200;
const MAX_ID_LENGTH = 255;
/** EMVCo. */
const MAX_QR_LENGTH = 512;
const MAX_REFUNDS = 1_000;

/** The code is in the body; the HTTP status is nearly always 200. */
export const responseSchema = z.object({
  status_code: digits(3),
  status_message: shown(MAX_STATUS_MESSAGE_LENGTH),
});

/** An empty text is no QR. */
const qrText = z
  .unknown()
  .optional()
  .transform((value) => reference(MAX_QR_LENGTH).safeParse(value).data ?? '');

/** The two names of an order: ours, and that of Midtrans. */
const identity = { order_id: reference(MAX_ID_LENGTH), transaction_id: reference(MAX_ID_LENGTH) };

export const chargeResponseSchema = z.object({
  ...identity,
  gross_amount: rupiah,
  transaction_status: statusWord({ pending: 'pending' }),
  qr_string: qrText,
});

const refundSchema = z.object({
  refund_key: reference(MAX_ID_LENGTH),
  refund_chargeback_id: shown(MAX_ID_LENGTH),
  refund_amount: rupiah,
  bank_confirmed_at: absentOr(time),
});

/** The response to closing an order. */
export const closeResponseSchema = z.object({
  order_id: reference(MAX_ID_LENGTH),
  transaction_id: optional(reference(MAX_ID_LENGTH)),
  gross_amount: optional(rupiah),
  transaction_status: statusWord(STATUSES),
});

export const statusResponseSchema = z.object({
  ...identity,
  gross_amount: rupiah,
  transaction_status: statusWord(STATUSES),
  // Another currency or payment type is not an order of ours. Not each response in the documentation has both.
  currency: absentOr(statusWord({ idr: 'IDR' })),
  payment_type: absentOr(statusWord({ qris: 'qris' })),
  settlement_time: optional(time),
  qr_string: qrText,
  refunds: absentOr(z.array(refundSchema).max(MAX_REFUNDS)),
});

/** The signature covers it as it is written, so it stays so. */
const signedText = (maxLength: number) =>
  z
    .string()
    .max(maxLength)
    .refine((text) => text.trim() !== '');

export const notificationSchema = z.object({
  order_id: signedText(50),
  status_code: signedText(3),
  gross_amount: signedText(20),
  signature_key: hex(128),
  // Not signed: only compared with those of other notifications.
  transaction_status: shown(40),
  transaction_id: z.unknown().optional(),
  refunds: z.unknown().optional(),
});
