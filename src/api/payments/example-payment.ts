/** The payment of Rp 50.000 in all examples of the documentation. */
export const EXAMPLE_IDENTITY = {
  id: '01935b6c-7c00-7b3a-9c41-2f6a0d9e8b17',
  reference_id: 'LN7Q2M4X9KD0RV5TBA',
  merchant_reference_id: 'ORDER-1042',
};

export const EXAMPLE_AMOUNTS = { amount: 50_000, fee_amount: 350, net_amount: 49_650, total_amount: 50_000 };

const form = { ...EXAMPLE_IDENTITY, payment_method_code: 'qris' } as const;
const currency = 'IDR';

/** The summary of the example without its status, as in `payment-fields.ts`. */
export const EXAMPLE_SUMMARY = { ...form, currency, ...EXAMPLE_AMOUNTS } as const;
export const EXAMPLE_PAYMENT = { ...form, provider: 'gopay', ...EXAMPLE_SUMMARY } as const;

/** The timestamps of the payment after the customer paid. */
export const EXAMPLE_TIMES = {
  paid_at: '2026-11-21T08:00:58.000Z',
  created_at: '2026-11-21T08:00:00.120Z',
  updated_at: '2026-11-21T08:00:59.204Z',
};

export const EXAMPLE_QRIS = {
  payload: [
    '00020101021226620014COM.GO-JEK.WWW01199360091410203040506021010203040500303UMI',
    '51440014ID.CO.QRIS.WWW0215ID10200000001010303UMI5204581253033605405500005802ID',
    '5914Warung Bu Siti6007Jakarta61051011062225018LN7Q2M4X9KD0RV5TBA6304CCF9',
  ].join(''),
  image_url: 'https://pay.example.com/qris/AZNbbHwAezqcQS9qDZ6LF7bq2hmTnM0x1KfYw3R8vZc.png',
  checkout_url: 'https://pay.example.com/pay/AZNbbHwAezqcQS9qDZ6LF-3kV9cWq1sYdU0hJb7xT2M',
  expires_at: '2026-11-21T08:15:01.000Z',
};
