import { z } from 'zod';
import { MAX_TOTAL_RUPIAH } from '../../../domain/money';
import { MAX_ORDER_ID_CHARACTERS } from '../../../domain/payment';
import { DEFAULT_PROVIDER, PROVIDERS } from '../../../domain/provider-capabilities';
import { createOwnPayment } from '../../../services/payments/create/create-own-payment';
import type { CreateRejection } from '../../../services/payments/create/create-rejection';
import type { MerchantView } from '../merchant-view';
import { creationText, fieldOfCreation, isCreationLimit } from './create-rejections';
import { amountField } from './list-filter';

/** The amount of a payment, as people write it. */
export const creationAmount = amountField.refine((rupiah) => rupiah >= 1 && rupiah <= MAX_TOTAL_RUPIAH, {
  error: 'amount',
});

/** The order ID of the merchant. */
export const orderField = z
  .string()
  .max(MAX_ORDER_ID_CHARACTERS, { error: 'order' })
  .refine((text) => !text.includes('\0'), { error: 'order' })
  .optional();

export const providerField = z.enum(PROVIDERS, { error: 'provider' }).default(DEFAULT_PROVIDER);

/** What the forms that create a payment share: the use case, and what they show when it is rejected. */
export const CREATION_FORM = {
  operation: createOwnPayment,
  path: () => ({}),
  errors: ({ texts }: MerchantView) => texts.create.errors,
  rejections: ({ texts, locale: { language } }: MerchantView) => ({
    not_created: ({ why }: { readonly why: CreateRejection }) => creationText(language, why),
    merchant_rate: (rejection: { readonly reason: 'merchant_rate' }) => creationText(language, rejection),
    temporal_away: () => texts.confirm.unavailable,
  }),
  fieldOf: fieldOfCreation,
  isLimit: isCreationLimit,
  // A repeat of the form continues the same payment.
  problem: ({ texts }: MerchantView, rejection: object | null) => (rejection === null ? texts.confirm.unknown : null),
} as const;
