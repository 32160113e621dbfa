import { z } from 'zod';
import { BANKS } from '../../domain/banks';
import { INVOICE_EVENTS, LATE_PAYMENT_EVENTS, PAYMENT_EVENTS, PAYOUT_EVENTS } from '../../domain/events';
import { INVOICE_KINDS } from '../../domain/fee-invoice';
import { RAILS } from '../../domain/payout-rails';
import { PAYOUT_STATUSES } from '../../domain/payout-transitions';
import { PAYMENT_METHODS } from '../../domain/provider-capabilities';
import { EXAMPLE_AMOUNTS, EXAMPLE_IDENTITY, EXAMPLE_TIMES } from '../payments/example-payment';
import { webhookFields } from '../payments/expand';
import { amountFields, PAYMENT_FIELDS, rupiahField, timestampField } from '../payments/payment-fields';

const { id, reference_id, merchant_reference_id, status, currency, provider, created_at, updated_at } = PAYMENT_FIELDS;

const eventField = <Event extends string>(events: readonly Event[]) =>
  z.enum(events).meta({ description: 'Also in the header `X-Service-Event`.' });
const environment = z.enum(['sandbox', 'production']).meta({ description: 'The environment of the transaction.' });

/**
 * The body of a webhook (docs/contract.md#events), as the statements in `src/db/transitions` write it. The last members
 * are in it if the endpoint adds them (docs/webhooks.md#more-members).
 */
export const webhookEventSchema = z.object({
  id,
  event: eventField(PAYMENT_EVENTS),
  reference_id,
  merchant_reference_id,
  status,
  environment,
  ...amountFields,
  currency,
  payment_method: z.enum(PAYMENT_METHODS),
  provider,
  created_at,
  updated_at,
  ...webhookFields,
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

/** docs/webhooks.md#events-of-late-payments */
export const latePaymentEventSchema = z.object({
  event: eventField(LATE_PAYMENT_EVENTS),
  payment_id: id,
  reference_id,
  merchant_reference_id,
  status: z.enum(['received', 'refunded']),
  environment,
  amount: rupiahField('What the customer paid after the end', 1),
  currency,
  payment_method: z.enum(PAYMENT_METHODS),
  provider,
  paid_at: timestampField('When the customer paid, by the clock of the provider.'),
  created_at: timestampField('When Lunas learned of it.'),
  updated_at: timestampField('When it last changed.'),
  ...webhookFields,
});

export const LATE_PAYMENT_EVENT: z.output<typeof latePaymentEventSchema> = {
  event: 'late_payment.received',
  payment_id: EXAMPLE_IDENTITY.id,
  reference_id: EXAMPLE_IDENTITY.reference_id,
  merchant_reference_id: EXAMPLE_IDENTITY.merchant_reference_id,
  status: 'received',
  environment: 'sandbox',
  amount: EXAMPLE_AMOUNTS.total_amount,
  currency: 'IDR',
  payment_method: 'qris',
  provider: 'gopay',
  paid_at: '2026-11-21T08:16:10.000Z',
  created_at: '2026-11-21T08:16:11.318Z',
  updated_at: '2026-11-21T08:16:11.318Z',
};

/** docs/webhooks.md#events-of-payouts */
export const payoutEventSchema = z.object({
  id: z.uuid().meta({ description: 'Payout identifier.' }),
  event: eventField(PAYOUT_EVENTS),
  reference_id: z
    .string()
    .regex(/^LP[0-9A-HJKMNP-TV-Z]{16}$/)
    .meta({ description: 'Payout ID for humans.' }),
  status: z.enum(PAYOUT_STATUSES),
  environment,
  gross_amount: rupiahField('What the balance pays', 1),
  fee_amount: rupiahField('Payout fee', 0),
  amount: rupiahField('What the bank account receives', 1),
  currency,
  rail: z.enum(RAILS),
  bank_code: z.string().meta({ description: `The code of the bank, such as \`014\` for ${BANKS['014']}.` }),
  account_last_four: z.string().meta({ description: 'The last digits of the bank account.' }),
  failure_reason: z.string().nullable().meta({ description: 'Why a `failed` payout failed.' }),
  created_at: timestampField('When the payout was requested.'),
  updated_at: timestampField('When the payout last changed; it increases with every change.'),
});

export const PAYOUT_EVENT: z.output<typeof payoutEventSchema> = {
  id: '01935b6d-10e4-7c12-8a0e-3f1b7c9d2e45',
  event: 'payout.completed',
  reference_id: 'LP0G6N5V8H3JYQ1MZC',
  status: 'completed',
  environment: 'sandbox',
  gross_amount: 1_250_000,
  fee_amount: 2_500,
  amount: 1_247_500,
  currency: 'IDR',
  rail: 'bi_fast',
  bank_code: '014',
  account_last_four: '7890',
  failure_reason: null,
  created_at: '2026-11-22T00:00:04.120Z',
  updated_at: '2026-11-22T00:00:09.877Z',
};

const invoiceRupiah = (description: string) =>
  z.int().meta({ description: `${description}, in whole rupiah; below zero in a credit note.` });

/** docs/webhooks.md#events-of-invoices */
export const invoiceEventSchema = z.object({
  event: eventField(INVOICE_EVENTS),
  number: z
    .string()
    .regex(/^(FI|CN)-\d{4}-\d{6,}$/)
    .meta({ description: 'Number of the invoice or the credit note.' }),
  kind: z.enum(INVOICE_KINDS).meta({ description: 'A credit note gives back a part of the fees of an invoice.' }),
  environment,
  month: z
    .string()
    .regex(/^\d{4}-\d{2}$/)
    .meta({ description: 'Month of the fees, in WIB.' }),
  fee_amount: invoiceRupiah('Fees with their VAT'),
  vat_amount: invoiceRupiah('VAT in the fees'),
  currency,
  corrects: z.string().nullable().meta({ description: 'The number of the invoice that a credit note corrects.' }),
  dashboard_path: z.string().meta({
    description: 'Its page, at the address of your dashboard; with `.pdf` or `.csv` at the end, its file.',
  }),
  issued_at: timestampField('When it was issued. It never changes.'),
});

export const INVOICE_EVENT: z.output<typeof invoiceEventSchema> = {
  event: 'invoice.issued',
  number: 'FI-2026-000123',
  kind: 'invoice',
  environment: 'sandbox',
  month: '2026-11',
  fee_amount: 1_332_000,
  vat_amount: 132_000,
  currency: 'IDR',
  corrects: null,
  dashboard_path: '/m/7K2MQ9XA/invoices/FI-2026-000123',
  issued_at: '2026-11-30T17:30:02.518Z',
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
