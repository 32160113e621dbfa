import { MAX_TOTAL_RUPIAH } from '../../../domain/money';
import { createOwnPayment } from '../../../services/payments/create/create-own-payment';
import type { CreateRejection } from '../../../services/payments/create/create-rejection';
import type { MerchantView } from '../merchant-view';
import { creationText, fieldOfCreation, isCreationLimit } from './create-rejections';
import { amountField } from './list-filter';

/** The amount of a payment, as people write it. */
export const creationAmount = amountField.refine((rupiah) => rupiah >= 1 && rupiah <= MAX_TOTAL_RUPIAH, {
  error: 'amount',
});

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
