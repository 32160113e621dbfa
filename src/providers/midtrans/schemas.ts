import { z } from 'zod';
import type { ProviderPaymentStatus } from '../../domain/provider-status';
import { parseMidtransTime } from './midtrans-time';

/**
 * Midtrans' statuses of a QRIS order (docs: "Transaction Status Cycle") and ours. A chargeback has none: no rule of
 * ours covers it.
 */
const STATUSES: ReadonlyMap<string, ProviderPaymentStatus> = new Map(
  Object.entries({
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
  } satisfies Record<string, ProviderPaymentStatus>),
);

const time = z
  .string()
  .transform(parseMidtransTime)
  .refine((timestamp) => timestamp !== undefined, { error: 'is no time of Midtrans' });

/** `275000.00`; a rupiah has no fraction. */
const rupiah = z
  .string()
  .regex(/^\d{1,13}(\.0{1,2})?$/)
  .transform(Number);

/** The code is in the body, as a string; the HTTP status is nearly always 200. */
export const responseSchema = z.object({
  status_code: z.string().regex(/^\d{3}$/),
  status_message: z.string().default(''),
});

export const chargeResponseSchema = z.object({
  transaction_id: z.string().min(1).max(255),
  order_id: z.string(),
  gross_amount: rupiah,
  transaction_status: z.string().toLowerCase().pipe(z.literal('pending')),
  qr_string: z.string().min(1).optional(),
});

const refundSchema = z.object({
  refund_key: z.string(),
  // A number in the documentation. Only operators need it, so an invalid one does not invalidate the response.
  refund_chargeback_id: z
    .union([z.int(), z.string().min(1).max(255)])
    .transform(String)
    .nullable()
    .catch(null),
  refund_amount: rupiah,
  bank_confirmed_at: time.optional(),
});

/** The response to closing an order. */
export const closeResponseSchema = z.object({
  order_id: z.string(),
  transaction_status: z.string().toLowerCase(),
});

export const statusResponseSchema = z.object({
  transaction_id: z.string().min(1).max(255),
  order_id: z.string(),
  gross_amount: rupiah,
  // Another currency or payment type is not an order of ours. Not each response in the documentation has both.
  currency: z.literal('IDR').optional(),
  payment_type: z.literal('qris').optional(),
  transaction_status: z
    .string()
    .toLowerCase()
    .transform((status) => STATUSES.get(status))
    .refine((status) => status !== undefined, { error: 'is no status of Midtrans' }),
  // Only displayed, so an invalid one does not invalidate the response.
  settlement_time: time.optional().catch(undefined),
  qr_string: z.string().min(1).optional(),
  refunds: z.array(refundSchema).max(1000).default([]),
});

export const notificationSchema = z.object({
  order_id: z.string().min(1).max(50),
  status_code: z.string().regex(/^\d{3}$/),
  gross_amount: z.string().max(20),
  signature_key: z.string().regex(/^[0-9a-fA-F]{128}$/),
  transaction_status: z.string().max(40).toLowerCase().default(''),
  // Only compared with those of other notifications.
  transaction_id: z.unknown().optional(),
  refunds: z.unknown().optional(),
});
