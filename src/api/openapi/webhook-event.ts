import { z } from 'zod';
import { PAYMENT_EVENTS } from '../../domain/events';
import { PAYMENT_METHODS } from '../../domain/provider-capabilities';
import { EXAMPLE_AMOUNTS, EXAMPLE_IDENTITY, EXAMPLE_TIMES } from '../payments/example-payment';
import { amountFields, PAYMENT_FIELDS } from '../payments/payment-fields';

const { id, reference_id, merchant_reference_id, status, currency, provider, created_at, updated_at } = PAYMENT_FIELDS;

/** The body of a webhook (docs/contract.md#events), as the statements in `src/db/transitions` write it. */
export const webhookEventSchema = z.object({
  id,
  event: z.enum(PAYMENT_EVENTS).meta({ description: 'Also in the header `X-Service-Event`.' }),
  reference_id,
  merchant_reference_id,
  status,
  environment: z.enum(['sandbox', 'production']).meta({ description: 'The environment of the transaction.' }),
  ...amountFields,
  currency,
  payment_method: z.enum(PAYMENT_METHODS),
  provider,
  created_at,
  updated_at,
});

export const WEBHOOK_EVENT: z.output<typeof webhookEventSchema> = {
  ...EXAMPLE_IDENTITY,
  event: 'payment.paid',
  status: 'paid',
  environment: 'sandbox',
  ...EXAMPLE_AMOUNTS,
  currency: 'IDR',
  payment_method: 'qris',
  provider: 'gopay',
  created_at: EXAMPLE_TIMES.created_at,
  updated_at: EXAMPLE_TIMES.updated_at,
};

const headerText = (description: string, example: string) => z.string().meta({ description, examples: [example] });

export const WEBHOOK_HEADERS = {
  'User-Agent': headerText('The name of this service.', 'Lunas-Webhooks/0.1.0'),
  'X-Service-Event': headerText('The event name.', 'payment.paid'),
  'X-Service-Delivery': headerText(
    'Identifies the delivery; the same in each of its attempts.',
    '01935b6c-9a10-7d2e-8f41-5a0c3c1f7e22',
  ),
  'X-Service-Signature': headerText(
    'When the attempt was signed, in Unix seconds, and its signature. ' +
      'During a rotation of the secret there is one `v1` for each valid secret.',
    't=1795248059,v1=4f0c1f0d7c1e5b6f3e0a9d8c7b6a594837261504f3e2d1c0bfae9d8c7b6a5948',
  ),
  'webhook-id': headerText(
    'Standard Webhooks: the same identifier as `X-Service-Delivery`, and signed.',
    '01935b6c-9a10-7d2e-8f41-5a0c3c1f7e22',
  ),
  'webhook-timestamp': headerText('Standard Webhooks: when the attempt was signed, in Unix seconds.', '1795248059'),
  'webhook-signature': headerText(
    'Standard Webhooks: `v1,<base64>`, separated by spaces, one for each valid secret.',
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  ),
};
