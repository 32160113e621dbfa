import { z } from 'zod';
import type { ApiErrorCode } from '../../domain/errors';
import { MAX_TOTAL_RUPIAH } from '../../domain/money';
import { PAYMENT_STATUSES } from '../../domain/payment-transitions';
import { CURRENCY, PAYMENT_METHODS, PROVIDERS } from '../../domain/provider-capabilities';
import { MAX_PAYLOAD_LENGTH } from '../../qris/payload';
import { REFERENCE_ID } from './path-id';
import { STATUS_MEANINGS } from './status-descriptions';

/** The contract's forms of a payment: exactly its keys in its order, absent values as null. */

export const paymentStatusSchema = z.enum(PAYMENT_STATUSES).meta({
  description: PAYMENT_STATUSES.map((status) => `- \`${status}\`: ${STATUS_MEANINGS[status]}`).join('\n'),
});

const rupiah = (description: string, min: number) =>
  z
    .int()
    .min(min)
    .max(MAX_TOTAL_RUPIAH)
    .meta({ description: `${description}, in whole rupiah.` });
const timestamp = (description: string) => z.iso.datetime().meta({ description });

/** Fields that several forms, and the webhook payload, have in common. */
export const PAYMENT_FIELDS = {
  id: z.uuid().meta({ description: 'Transaction identifier.' }),
  reference_id: z.string().regex(REFERENCE_ID).meta({
    description: 'Transaction ID for people; usable in place of `id` in paths.',
  }),
  merchant_reference_id: z.string().max(64).nullable().meta({ description: 'Your own order ID; null without one.' }),
  provider: z.enum(PROVIDERS).meta({ description: 'Whose QR it is. Any QRIS app can pay it.' }),
  currency: z.literal(CURRENCY),
  amount: rupiah('Order amount', 1),
  fee_amount: rupiah('Payment fee', 0),
  net_amount: rupiah('What is recorded for you', 1),
  total_amount: rupiah('What the customer pays', 1),
  status: paymentStatusSchema,
  created_at: timestamp('When the transaction was created.'),
  updated_at: timestamp('When the transaction changed last; it grows with every change.'),
};

const { id, reference_id, merchant_reference_id, provider, currency, status, created_at, updated_at } = PAYMENT_FIELDS;
const { amount, fee_amount, net_amount, total_amount } = PAYMENT_FIELDS;
const identityFields = { id, reference_id, merchant_reference_id, payment_method_code: z.enum(PAYMENT_METHODS) };
const amountFields = { amount, fee_amount, net_amount, total_amount };
const paid_at = timestamp('When the customer paid, by the clock of the provider; null before.').nullable();
const expires_at = timestamp('Until when the customer can pay.');
const imageUrl = z.url().meta({ description: 'The QR as a PNG picture, public and cacheable; `.svg` is there too.' });
const qrisPayload = z
  .string()
  .max(MAX_PAYLOAD_LENGTH)
  .meta({ description: 'The QRIS payload (EMVCo), to draw the QR yourself.' });

export const createdPaymentSchema = z.object({
  ...identityFields,
  provider,
  currency,
  ...amountFields,
  status,
  qris_payload: qrisPayload,
  qris_image_url: imageUrl,
  expires_at,
  created_at,
  updated_at,
});

export const paymentDetailSchema = z.object({
  ...identityFields,
  provider,
  currency,
  ...amountFields,
  status,
  paid_at,
  created_at,
  updated_at,
});

export const listedPaymentSchema = paymentDetailSchema.omit({ provider: true });

/** The `error` object of a failure (contract, "Errors"), narrowed to the codes that can occur at its place. */
export function errorSchema(codes: readonly ApiErrorCode[]) {
  return z.object({
    code: z.enum(codes),
    message: z
      .string()
      .meta({ description: 'For people: names the field and the rule; may be worded anew at any time.' }),
  });
}

/** An item of a bulk: one still unclear at the deadline is `created`, a refused one `failed` with the reason. */
export const bulkItemSchema = z.object({
  ...identityFields,
  ...amountFields,
  status,
  expires_at: expires_at
    .nullable()
    .meta({ description: 'Until when the customer can pay; null before there is a QR.' }),
  error: errorSchema(['payment_create_failed'])
    .optional()
    .meta({ description: 'Why the provider refused this item; only on a `failed` one.' }),
});

export const cancelledPaymentSchema = z.object({
  ...identityFields,
  currency,
  ...amountFields,
  status,
  cancelled_at: timestamp('When it was cancelled; null after a cancelled refund, which leaves it `paid`.').nullable(),
});

export const refundedPaymentSchema = cancelledPaymentSchema.omit({ cancelled_at: true });

export const qrisSchema = z.object({ payload: qrisPayload, image_url: imageUrl, expires_at });
