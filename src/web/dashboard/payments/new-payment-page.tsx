import type { ReactElement } from 'react';
import type { FeePayer } from '../../../domain/fees';
import { PROVIDER_CAPABILITIES, type ProviderName } from '../../../domain/provider-capabilities';
import type { FieldErrors, SentFields } from '../../page/read-form';
import { ErrorSummary, Field } from '../../ui/form';
import { Card, Notice, PageHead } from '../../ui/layout';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { newPaymentPath, paymentsPath } from './payment-paths';
import { PAYMENT_TEXTS } from './payment-texts';
import { PROVIDER_NAMES } from './provider-names';

interface ProviderTerms {
  readonly provider: ProviderName;
  readonly percent: string;
  /** Null: there is none. */
  readonly flat: string | null;
  readonly minutes: string;
}

interface NewPaymentPage {
  readonly view: MerchantView;
  readonly feePayer: FeePayer;
  /** The terms of each provider that is enabled for the merchant. */
  readonly terms: readonly ProviderTerms[];
  /** Why the merchant cannot create payments; null if it can. */
  readonly rejection: string | null;
  readonly formId: string;
  readonly sent: SentFields;
  readonly errors: FieldErrors;
  readonly problem?: string;
}

export function renderNewPaymentPage(page: NewPaymentPage): string {
  return renderMerchantPage(page.view, {
    title: page.view.texts.create.title,
    current: 'payments',
    live: 'none',
    children: <NewPayment {...page} />,
  });
}

function NewPayment(page: NewPaymentPage): ReactElement {
  const { view, errors, problem } = page;
  const { texts } = view;
  return (
    <div className="narrow">
      <PageHead title={texts.create.title} back={{ href: paymentsPath.to(view), label: texts.detail.back }} />
      <div className="stack">
        {problem !== undefined && (
          <Notice tone="bad">
            <p>{problem}</p>
          </Notice>
        )}
        <ErrorSummary title={texts.create.errorTitle} errors={errors} />
        <Card>
          <PaymentForm {...page} />
        </Card>
        <Terms {...page} />
      </div>
    </div>
  );
}

function PaymentForm({ view, terms, rejection, formId, sent, errors }: NewPaymentPage): ReactElement {
  const { create } = view.texts;
  return (
    <form className="card-body" method="post" action={newPaymentPath.to(view)}>
      <input type="hidden" name="form_id" value={formId} />
      <Field
        name="amount"
        label={create.amount}
        hint={create.amountHint}
        value={sent.amount ?? ''}
        error={errors.amount}
        inputMode="numeric"
        autoComplete="off"
        maxLength={16}
        prefix="Rp"
        required
      />
      <Field
        name="order"
        label={create.order}
        hint={create.orderHint}
        value={sent.order ?? ''}
        error={errors.order}
        autoComplete="off"
        maxLength={64}
      />
      {terms.length > 1 && <Providers view={view} terms={terms} chosen={sent.provider ?? 'gopay'} />}
      <div className="buttons">
        <button className="button primary wide-button" disabled={rejection !== null}>
          {create.button}
        </button>
      </div>
    </form>
  );
}

interface ProvidersProps extends Pick<NewPaymentPage, 'view' | 'terms'> {
  readonly chosen: string;
}

function Providers({ view, terms, chosen }: ProvidersProps): ReactElement {
  const { providerHint, noReturn } = PAYMENT_TEXTS[view.locale.language];
  const limited = terms
    .map(({ provider }) => provider)
    .filter((name) => {
      const { cancel, refund } = PROVIDER_CAPABILITIES[name];
      return !cancel && !refund;
    });
  return (
    <fieldset id="provider" aria-describedby="provider-hint">
      <legend>{view.texts.create.provider}</legend>
      {terms.map(({ provider }) => (
        <label key={provider} className="choice">
          <input type="radio" name="provider" value={provider} defaultChecked={provider === chosen} />
          {PROVIDER_NAMES[provider]}
        </label>
      ))}
      <p id="provider-hint" className="hint">
        {providerHint} {limited.map((name) => noReturn(PROVIDER_NAMES[name])).join(' ')}
      </p>
    </fieldset>
  );
}

function Terms({ view, terms, feePayer }: NewPaymentPage): ReactElement {
  const { create } = view.texts;
  return (
    <div className="dim">
      {terms.map(({ provider, percent, flat, minutes }) => (
        <p key={provider}>
          {PROVIDER_NAMES[provider]}: {create.feeOf(percent, flat)}. {create.worksFor(minutes)}
        </p>
      ))}
      <p>{create.paidBy[feePayer]}</p>
    </div>
  );
}
