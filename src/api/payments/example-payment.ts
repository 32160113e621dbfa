import type { z } from 'zod';
import type {
  bulkItemSchema,
  cancelledPaymentSchema,
  createdPaymentSchema,
  listedPaymentSchema,
  paymentDetailSchema,
  qrisSchema,
  refundedPaymentSchema,
} from './payment-fields';
import type { webhookEventSchema } from '../openapi/webhook-event';

/** One payment of Rp 50.000, followed through the whole documentation. */
const identity = {
  id: '01935b6c-7c00-7b3a-9c41-2f6a0d9e8b17',
  reference_id: 'LN7Q2M4X9KD0RV5TBA',
  merchant_reference_id: 'ORDER-1042',
};
const form = { ...identity, payment_method_code: 'qris' } as const;
const amounts = { amount: 50_000, fee_amount: 350, net_amount: 49_650, total_amount: 50_000 };
const currency = 'IDR';
const provider = 'gopay';
const created_at = '2026-11-21T08:00:00.120Z';
const expires_at = '2026-11-21T08:15:01.000Z';
const paid_at = '2026-11-21T08:00:58.000Z';

const QRIS_PAYLOAD =
  '00020101021226620014COM.GO-JEK.WWW01199360091410203040506021010203040500303UMI51440014ID.CO.QRIS.WWW0215ID10200000001010303UMI5204581253033605405500005802ID5914Warung Bu Siti6007Jakarta61051011062225018LN7Q2M4X9KD0RV5TBA6304CCF9';
const IMAGE_URL = 'https://pay.example.com/qris/AZNbbHwAezqcQS9qDZ6LF7bq2hmTnM0x1KfYw3R8vZc.png';

export const CREATED_PAYMENT: z.output<typeof createdPaymentSchema> = {
  ...form,
  provider,
  currency,
  ...amounts,
  status: 'pending',
  qris_payload: QRIS_PAYLOAD,
  qris_image_url: IMAGE_URL,
  expires_at,
  created_at,
  updated_at: '2026-11-21T08:00:00.410Z',
};

export const BULK_ITEMS: z.output<typeof bulkItemSchema>[] = [
  { ...form, ...amounts, status: 'pending', expires_at },
  {
    id: '01935b6c-7c05-7d11-8e02-6b1c9f0a4d35',
    reference_id: 'LN3F8W1Z6HJ4NC2EGP',
    merchant_reference_id: 'ORDER-1043',
    payment_method_code: 'qris',
    amount: 75_000,
    fee_amount: 525,
    net_amount: 74_475,
    total_amount: 75_000,
    status: 'failed',
    expires_at: null,
    error: { code: 'payment_create_failed', message: 'The transaction could not be created: denied by the acquirer.' },
  },
];

export const LISTED_PAYMENT: z.output<typeof listedPaymentSchema> = {
  ...form,
  currency,
  ...amounts,
  status: 'paid',
  paid_at,
  created_at,
  updated_at: '2026-11-21T08:00:59.204Z',
};

export const PAYMENT_DETAIL: z.output<typeof paymentDetailSchema> = {
  ...form,
  provider,
  currency,
  ...amounts,
  status: 'paid',
  paid_at,
  created_at,
  updated_at: '2026-11-21T08:00:59.204Z',
};

export const CANCELLED_PAYMENT: z.output<typeof cancelledPaymentSchema> = {
  ...form,
  currency,
  ...amounts,
  status: 'cancelled',
  cancelled_at: '2026-11-21T08:03:12.877Z',
};

export const CANCELLED_REFUND: z.output<typeof cancelledPaymentSchema> = {
  ...form,
  currency,
  ...amounts,
  status: 'paid',
  cancelled_at: null,
};

export const REFUNDED_PAYMENT: z.output<typeof refundedPaymentSchema> = {
  ...form,
  currency,
  ...amounts,
  status: 'refund_processing',
};

export const QRIS: z.output<typeof qrisSchema> = { payload: QRIS_PAYLOAD, image_url: IMAGE_URL, expires_at };

export const WEBHOOK_EVENT: z.output<typeof webhookEventSchema> = {
  ...identity,
  event: 'payment.paid',
  status: 'paid',
  environment: 'sandbox',
  ...amounts,
  currency,
  payment_method: 'qris',
  provider,
  created_at,
  updated_at: '2026-11-21T08:00:59.204Z',
};
