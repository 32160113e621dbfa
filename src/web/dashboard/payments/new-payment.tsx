import type { ReactElement } from 'react';
import { z } from 'zod';
import { MAX_TOTAL_RUPIAH } from '../../../domain/money';
import { isDescription, MAX_DESCRIPTION_CHARACTERS } from '../../../domain/payment';
import { PROVIDERS, type ProviderName } from '../../../domain/provider-capabilities';
import { createOwnPayment, type OwnTerms } from '../../../services/payments/create/create-own-payment';
import { ErrorSummary } from '../../ui/form';
import { Card, Notice, PageHead } from '../../ui/layout';
import { feeText } from '../fee-text';
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
  const terms = subject.policies.flatMap(({ provider, policy, rates }) =>
    policy ? [termsOf(view, provider, { policy, rates })] : [],
  );
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
          {terms.map(({ provider, fee, minutes }) => (
            <p key={provider}>
              {PROVIDER_NAMES[provider]}: {create.feeOf(fee)}. {create.worksFor(minutes)}
            </p>
          ))}
          <p>{create.paidBy[subject.feePayer]}</p>
        </div>
      </div>
    </div>
  );
}

type CurrentPolicy = OwnTerms['policies'][number];
type Terms = Pick<CurrentPolicy, 'rates'> & { readonly policy: NonNullable<CurrentPolicy['policy']> };

const termsOf = (view: MerchantView, provider: ProviderName, terms: Terms) => ({
  provider,
  fee: feeText(view.locale.language, terms),
  minutes: String(Math.round(terms.policy.expiresInSeconds / 60)),
});
