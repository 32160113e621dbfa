import { z } from 'zod';
import type { PaymentRow } from '../../db/payments/payment-row';
import { MAX_TOTAL_RUPIAH } from '../../domain/money';
import { MAX_ORDER_ID_CHARACTERS } from '../../domain/payment';
import { PAYMENT_STATUSES } from '../../domain/payment-transitions';
import { CURRENCY, PAYMENT_METHODS, PROVIDERS } from '../../domain/provider-capabilities';
import { STATUS_MEANINGS } from '../../domain/status-meanings';
import { REFERENCE_ID } from '../../services/payments/path-id';

export const paymentStatusSchema = z.enum(PAYMENT_STATUSES).meta({
  description: PAYMENT_STATUSES.map((status) => `- \`${status}\`: ${STATUS_MEANINGS[status]}`).join('\n'),
});

export const rupiahField = (description: string, min: number) =>
  z
    .int()
    .min(min)
    .max(MAX_TOTAL_RUPIAH)
    .meta({ description: `${description}, in whole rupiah.` });
export const timestampField = (description: string) => z.iso.datetime().meta({ description });

/** Fields that several responses, and the webhook payload, have in common. */
export const PAYMENT_FIELDS = {
  id: z.uuid().meta({ description: 'Transaction identifier.' }),
  reference_id: z.string().regex(REFERENCE_ID).meta({
    description: 'Transaction ID for humans; usable instead of `id` in paths.',
  }),
  merchant_reference_id: z
    .string()
    .max(MAX_ORDER_ID_CHARACTERS)
    .nullable()
    .meta({ description: 'Your own order ID; null without one.' }),
  provider: z.enum(PROVIDERS).meta({ description: 'The provider of the QR. Any QRIS app can pay it.' }),
  currency: z.literal(CURRENCY),
  amount: rupiahField('Order amount', 1),
  fee_amount: rupiahField('Payment fee', 0),
  net_amount: rupiahField('Net amount for the merchant', 1),
  total_amount: rupiahField('Amount that the customer pays', 1),
  status: paymentStatusSchema,
  created_at: timestampField('When the transaction was created.'),
  updated_at: timestampField('When the transaction last changed; it increases with every change.'),
  paid_at: timestampField('When the customer paid, by the clock of the provider; null before.').nullable(),
  expires_at: timestampField('The customer can pay until this time.'),
};

const { id, reference_id, merchant_reference_id, provider, currency, status } = PAYMENT_FIELDS;
const { amount, fee_amount, net_amount, total_amount, paid_at, created_at, updated_at } = PAYMENT_FIELDS;
export const identityFields = { id, reference_id, merchant_reference_id, payment_method_code: z.enum(PAYMENT_METHODS) };
export const amountFields = { amount, fee_amount, net_amount, total_amount };
export const timestampFields = { paid_at, created_at, updated_at };

/** A response has exactly the keys of docs/contract.md#payments, in that order; absent values are null. */
export const summaryFields = { ...identityFields, currency, ...amountFields, status };
/** A spread leaves a repeated key where it was first, so `provider` precedes `currency`. */
export const paymentFields = { ...identityFields, provider, ...summaryFields };

export const identityFieldsOf = (payment: PaymentRow) => ({
  id: payment.id,
  reference_id: payment.referenceId,
  merchant_reference_id: payment.merchantReferenceId,
  payment_method_code: payment.paymentMethod,
});

export const amountFieldsOf = (payment: PaymentRow) => ({
  amount: payment.amountRupiah,
  fee_amount: payment.feeRupiah,
  net_amount: payment.netRupiah,
  total_amount: payment.totalRupiah,
});

export const summaryFieldsOf = (payment: PaymentRow) => ({
  ...identityFieldsOf(payment),
  currency: payment.currency,
  ...amountFieldsOf(payment),
  status: payment.status,
});

export const paymentFieldsOf = (payment: PaymentRow) => ({
  ...identityFieldsOf(payment),
  provider: payment.provider,
  ...summaryFieldsOf(payment),
});

export const timestampFieldsOf = (payment: PaymentRow) => ({
  paid_at: payment.paidAt?.toISOString() ?? null,
  created_at: payment.createdAt.toISOString(),
  updated_at: payment.updatedAt.toISOString(),
});
