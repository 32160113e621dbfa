import { z } from 'zod';
import { bulkItemRequestSchema, paymentRequestSchema } from './payment-request';

const fields = bulkItemRequestSchema.shape;

const topFields = {
  currency: fields.currency.meta({ description: 'Only `IDR`.' }),
  payment_method: fields.payment_method.meta({ description: 'Only `qris`.' }),
  provider: fields.provider.meta({ description: 'Whose QR it is to be; must be enabled for you.' }),
};

const ownFields = {
  amount: fields.amount.meta({
    description: 'Order amount in whole rupiah, written as plain digits. The same limit holds for `total_amount`.',
  }),
  merchant_reference_id: fields.merchant_reference_id.meta({ description: 'Your own order ID.' }),
  customer: fields.customer.meta({ description: 'Who pays; further keys with texts are allowed. Kept encrypted.' }),
  metadata: fields.metadata.meta({ description: 'What you want to keep with it, at most 50 keys. Kept encrypted.' }),
};

const bulkItemSchema = bulkItemRequestSchema.omit({ provider: true }).extend({
  ...ownFields,
  idempotency_key: fields.idempotency_key.meta({
    description: 'Names this item: 1 to 255 printable ASCII characters. Recommended.',
  }),
  currency: topFields.currency,
  payment_method: topFields.payment_method,
});

/** The bodies of `POST /payments`: the schemas by which the endpoint judges them, with words for readers. */
export const CREATE_BODIES = {
  PaymentRequest: paymentRequestSchema.extend({ ...ownFields, ...topFields }).meta({ title: 'One transaction' }),
  BulkRequest: z.object({ payments: z.array(bulkItemSchema).min(1).max(50), ...topFields }).meta({ title: 'A bulk' }),
};
