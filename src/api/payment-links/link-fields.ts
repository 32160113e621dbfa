import { z } from 'zod';
import type { PublicAddresses } from '../../crypto/public-links';
import { referencePattern } from '../../crypto/reference-id';
import type { PaymentLinkRow } from '../../db/links/payment-link-row';
import { MAX_ORDER_ID_CHARACTERS } from '../../domain/payment';
import { LINK_KINDS, LINK_STATUSES, linkStatusOf, MAX_LINK_TITLE_CHARACTERS } from '../../domain/payment-link';
import { CURRENCY, PROVIDERS } from '../../domain/provider-capabilities';
import { rupiahField, timestampField } from '../payments/payment-fields';

export const paymentLinkSchema = z.object({
  id: z.uuid().meta({ description: 'Identifier of the link.' }),
  reference_id: z
    .string()
    .regex(referencePattern('LK'))
    .meta({ description: 'The link for humans; usable instead of `id` in paths.' }),
  url: z.url().meta({ description: 'The page that customers open.' }),
  kind: z.enum(LINK_KINDS).meta({ description: '`once` ends with its first paid transaction.' }),
  status: z.enum(LINK_STATUSES).meta({ description: 'Only an `active` link makes transactions.' }),
  title: z.string().max(MAX_LINK_TITLE_CHARACTERS),
  amount: rupiahField('Order amount of each transaction', 1)
    .nullable()
    .meta({ description: 'Order amount of each transaction, in whole rupiah; null: the customer chooses it.' }),
  minimum_amount: rupiahField('The least', 1).nullable().meta({ description: 'Of a chosen amount; else null.' }),
  maximum_amount: rupiahField('The most', 1).nullable().meta({ description: 'Of a chosen amount; else null.' }),
  currency: z.literal(CURRENCY),
  provider: z.enum(PROVIDERS),
  merchant_reference_id: z
    .string()
    .max(MAX_ORDER_ID_CHARACTERS)
    .nullable()
    .meta({ description: 'Copied into each transaction.' }),
  expires_at: timestampField('When the link ends; null: never.').nullable(),
  payment_expires_in: z.int().nullable().meta({ description: 'How long each transaction can be paid, in seconds.' }),
  return_url: z.string().nullable().meta({ description: 'Where the checkout page of each transaction leads.' }),
  paid_count: z.int().min(0).meta({ description: 'Transactions that were paid, also those that were refunded since.' }),
  paid_amount: z.int().min(0).meta({ description: 'The sum of their `amount`, in whole rupiah.' }),
  created_at: timestampField('When the link was made.'),
  closed_at: timestampField('When it was closed; null: it was not.').nullable(),
});

export type PaymentLinkBody = z.output<typeof paymentLinkSchema>;

export async function toLinkBody(
  { linkAddresses }: Pick<PublicAddresses, 'linkAddresses'>,
  link: PaymentLinkRow,
  now: Date,
): Promise<PaymentLinkBody> {
  return {
    id: link.id,
    reference_id: link.referenceId,
    url: await linkAddresses.urlOf(link),
    kind: link.kind,
    status: linkStatusOf(link, now.getTime()),
    title: link.title,
    amount: link.amountRupiah,
    minimum_amount: link.minimumRupiah,
    maximum_amount: link.maximumRupiah,
    currency: CURRENCY,
    provider: link.provider,
    merchant_reference_id: link.merchantReferenceId,
    expires_at: link.expiresAt?.toISOString() ?? null,
    payment_expires_in: link.paymentExpiresInSeconds,
    return_url: link.returnUrl,
    paid_count: link.paidCount,
    paid_amount: link.paidRupiah,
    created_at: link.createdAt.toISOString(),
    closed_at: link.closedAt?.toISOString() ?? null,
  };
}

export const EXAMPLE_LINK: PaymentLinkBody = {
  id: '01935b6c-9d10-7c41-a6f5-2f5e8b1c0d77',
  reference_id: 'LK019QK3M6TZ4WX8RN2A',
  url: 'https://lunas.example/link/AZNbbJ0QfEGm9S9eixwNd3Yf0pWm1l4QkR8sT2uVx5A',
  kind: 'once',
  status: 'active',
  title: 'Invoice 1042',
  amount: 50_000,
  minimum_amount: null,
  maximum_amount: null,
  currency: CURRENCY,
  provider: 'gopay',
  merchant_reference_id: 'ORDER-1042',
  expires_at: '2026-11-28T08:00:00.000Z',
  payment_expires_in: null,
  return_url: null,
  paid_count: 0,
  paid_amount: 0,
  created_at: '2026-11-21T08:00:00.000Z',
  closed_at: null,
};
