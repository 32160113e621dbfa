import type { ReactElement } from 'react';
import { z } from 'zod';
import { formatRupiah, MAX_TOTAL_RUPIAH } from '../../../domain/money';
import { isDescription, MAX_DESCRIPTION_CHARACTERS } from '../../../domain/payment';
import { PROVIDERS, type ProviderName } from '../../../domain/provider-capabilities';
import { createOwnPayment, type OwnTerms } from '../../../services/payments/create/create-own-payment';
import { ErrorSummary } from '../../ui/form';
import { Card, Notice, PageHead } from '../../ui/layout';
import { memberFormPages, type FormPage } from '../form-pages';
import { renderMerchantPage } from '../merchant-page';
import { merchantRejection, type MerchantView } from '../merchant-view';
import { creationText, fieldOfCreation, isCreationLimit } from './create-rejections';
import { amountField } from './list-filter';
import { NewPaymentForm, OWN_EXPIRIES } from './new-payment-form';
import { newPaymentPath, paymentsPath, qrPath } from './payment-paths';
import { PROVIDER_NAMES } from './provider-names';

const newPaymentFields = z
  .object({
    amount: amountField.refine((rupiah) => rupiah >= 1 && rupiah <= MAX_TOTAL_RUPIAH, { error: 'amount' }),
    order: z
      .string()
      .max(64, { error: 'order' })
      .refine((text) => !text.includes('\0'), { error: 'order' })
      .optional(),
    provider: z.enum(PROVIDERS, { error: 'provider' }).default('gopay'),
    description: z
      .string()
      .max(MAX_DESCRIPTION_CHARACTERS, { error: 'description' })
      .refine(isDescription, { error: 'description' })
      .optional(),
    expires_in: z.enum(OWN_EXPIRIES, { error: 'expires_in' }).optional(),
  })
  .transform(({ amount, order, provider, description, expires_in: expiresIn }) => ({
    amountRupiah: amount,
    provider,
    merchantReferenceId: order ?? null,
    description: description ?? null,
    expiresInSeconds: expiresIn === undefined ? null : Number(expiresIn),
  }));

export const newPaymentPages = memberFormPages({
  at: newPaymentPath,
  operation: createOwnPayment,
  path: () => ({}),
  fields: () => newPaymentFields,
  errors: ({ texts }) => texts.create.errors,
  rejections: ({ texts, locale: { language } }) => ({
    not_created: ({ why }) => creationText(language, why),
    merchant_rate: (rejection) => creationText(language, rejection),
    temporal_away: () => texts.confirm.unavailable,
  }),
  fieldOf: fieldOfCreation,
  isLimit: isCreationLimit,
  // A repeat of the form continues the same payment.
  problem: ({ texts }, rejection) => (rejection === null ? texts.confirm.unknown : null),
  done: ({ referenceId }, { view }) => qrPath.to({ ...view, ref: referenceId }),
  render: (page) =>
    renderMerchantPage(page.view, {
      title: page.view.texts.create.title,
      current: 'payments',
      live: 'none',
      children: <NewPayment {...page} />,
    }),
});

/** A form that was rejected can be sent again. What the merchant cannot do at present stands above every page. */
function NewPayment(page: FormPage<OwnTerms>): ReactElement {
  const { view, errors, rejection, problem, subject } = page;
  const { create, detail } = view.texts;
  const closed = merchantRejection(view);
  const why = problem ?? (rejection === closed ? null : rejection);
  const terms = subject.policies.flatMap(({ provider, policy }) => (policy ? [termsOf(view, provider, policy)] : []));
  return (
    <div className="narrow">
      <PageHead title={create.title} back={{ href: paymentsPath.to(view), label: detail.back }} />
      <div className="stack">
        {why !== null && (
          <Notice tone="bad">
            <p>{why}</p>
          </Notice>
        )}
        <ErrorSummary title={create.errorTitle} errors={errors} />
        <Card>
          <NewPaymentForm {...page} terms={terms} isClosed={closed !== null} />
        </Card>
        <div className="dim">
          {terms.map(({ provider, percent, flat, minutes }) => (
            <p key={provider}>
              {PROVIDER_NAMES[provider]}: {create.feeOf(percent, flat)}. {create.worksFor(minutes)}
            </p>
          ))}
          <p>{create.paidBy[subject.feePayer]}</p>
        </div>
      </div>
    </div>
  );
}

type Policy = NonNullable<OwnTerms['policies'][number]['policy']>;

const termsOf = (view: MerchantView, provider: ProviderName, policy: Policy) => ({
  provider,
  percent: (policy.feeBasisPoints / 100).toLocaleString(view.locale.language),
  /** Null: there is none. */
  flat: policy.feeFlatRupiah === 0 ? null : formatRupiah(policy.feeFlatRupiah),
  minutes: String(Math.round(policy.expiresInSeconds / 60)),
});
