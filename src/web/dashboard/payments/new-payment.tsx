import type { ReactElement } from 'react';
import { z } from 'zod';
import { isDescription, MAX_DESCRIPTION_CHARACTERS } from '../../../domain/payment';
import type { ProviderName } from '../../../domain/provider-capabilities';
import type { OwnTerms } from '../../../services/payments/create/create-own-payment';
import { ErrorSummary } from '../../ui/form';
import { Card, Notice, PageHead } from '../../ui/layout';
import { feeText } from '../fee-text';
import { NEW_PAYMENT_FILES } from '../files';
import { memberFormPages, type FormPage } from '../form-pages';
import { renderMerchantPage } from '../merchant-page';
import { merchantRejection, type MerchantView } from '../merchant-view';
import { CREATION_FORM, creationAmount, orderField, providerField } from './creation-form';
import { findLastAmounts } from './last-amounts';
import { NewPaymentForm, OWN_EXPIRIES } from './new-payment-form';
import { newPaymentPath, paymentsPath, qrPath } from './payment-paths';

const newPaymentFields = z
  .object({
    amount: creationAmount,
    order: orderField,
    provider: providerField,
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
  ...CREATION_FORM,
  fields: () => newPaymentFields,
  done: ({ referenceId }, { view }) => qrPath.to({ ...view, ref: referenceId }),
  isFilledByQuery: true,
  render: async (page, dependencies) => {
    const { view, subject, now } = page;
    const own = { merchantId: subject.merchantId, userId: view.userId, now };
    const lastAmounts = await findLastAmounts(dependencies, own);
    return renderMerchantPage(view, {
      title: view.texts.create.title,
      current: 'payments',
      live: 'none',
      ...NEW_PAYMENT_FILES,
      children: <NewPayment {...page} lastAmounts={lastAmounts} />,
    });
  },
});

/** A form that was rejected can be sent again. What the merchant cannot do at present stands above every page. */
function NewPayment(page: FormPage<OwnTerms> & { readonly lastAmounts: readonly number[] }): ReactElement {
  const { view, errors, rejection, problem, subject } = page;
  const { create, detail } = view.texts;
  const closed = merchantRejection(view);
  const why = problem ?? (rejection === closed ? null : rejection);
  const terms = subject.policies.flatMap(({ provider, policy, rates }) =>
    policy ? [termsOf(view, provider, { policy, rates })] : [],
  );
  return (
    <div className="narrow new-payment">
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
          {terms.length === 1 && <p>{terms[0]?.text}</p>}
          <p>{create.paidBy[subject.feePayer]}</p>
        </div>
      </div>
    </div>
  );
}

type CurrentPolicy = OwnTerms['policies'][number];
type Terms = Pick<CurrentPolicy, 'rates'> & { readonly policy: NonNullable<CurrentPolicy['policy']> };

function termsOf({ texts: { create }, locale }: MerchantView, provider: ProviderName, terms: Terms) {
  const minutes = String(Math.round(terms.policy.expiresInSeconds / 60));
  const fee = create.feeOf(feeText(locale.language, terms));
  return { provider, terms, text: `${fee}. ${create.worksFor(minutes)}` };
}
