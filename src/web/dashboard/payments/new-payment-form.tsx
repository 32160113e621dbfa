import type { ReactElement } from 'react';
import { PROVIDER_CAPABILITIES, type ProviderName } from '../../../domain/provider-capabilities';
import type { OwnTerms } from '../../../services/payments/create/create-own-payment';
import { Choices } from '../../ui/choices';
import { Field } from '../../ui/form';
import { formatDuration } from '../../ui/format';
import { Select } from '../../ui/select';
import type { FormPage } from '../form-pages';
import type { MerchantView } from '../merchant-view';
import { newPaymentPath } from './payment-paths';
import { PAYMENT_TEXTS } from './payment-texts';
import { PROVIDER_NAMES } from './provider-names';

/** How long the QR works if it is not as usual, in seconds. */
export const OWN_EXPIRIES = ['300', '900', '3600', '86400'] as const;

interface NewPaymentFormProps extends FormPage<OwnTerms> {
  /** The terms of each provider that can be chosen. */
  readonly terms: readonly { readonly provider: ProviderName }[];
  readonly isClosed: boolean;
}

/** The amount is the first field, and enough for a payment. */
export function NewPaymentForm(page: NewPaymentFormProps): ReactElement {
  const { view, terms, isClosed, formId, sent, errors, attributes } = page;
  const { create } = view.texts;
  const chosen = sent?.provider ?? 'gopay';
  return (
    <form className="card-body" method="post" action={newPaymentPath.to(view)}>
      <input type="hidden" name="form_id" value={formId} />
      <Field
        name="amount"
        label={create.amount}
        hint={create.amountHint}
        value={sent?.amount ?? ''}
        error={errors.amount}
        inputMode="numeric"
        autoComplete="off"
        prefix="Rp"
        {...attributes.amount}
      />
      <Field
        name="order"
        label={create.order}
        hint={create.orderHint}
        value={sent?.order ?? ''}
        error={errors.order}
        autoComplete="off"
        {...attributes.order}
      />
      {terms.length > 1 && (
        <Choices
          name="provider"
          kind="radio"
          label={create.provider}
          choices={terms.map(({ provider: name }) => ({
            name,
            label: PROVIDER_NAMES[name],
            isChosen: name === chosen,
          }))}
          hint={providerHint(view, terms)}
          error={errors.provider}
          {...attributes.provider}
        />
      )}
      <MoreFields {...page} />
      <div className="buttons">
        <button className="button primary wide-button" disabled={isClosed}>
          {create.button}
        </button>
      </div>
    </form>
  );
}

/** What few payments need, open if it was filled in. */
function MoreFields({ view, sent, errors, attributes }: NewPaymentFormProps): ReactElement {
  const { language } = view.locale;
  const { more } = PAYMENT_TEXTS[language];
  const isUsed = [sent, errors].some((fields) => fields?.description !== undefined || fields?.expires_in !== undefined);
  const expiries = OWN_EXPIRIES.map((seconds) => ({
    value: seconds,
    label: formatDuration(Number(seconds), language),
  }));
  return (
    <details className="more-fields" open={isUsed}>
      <summary>{more.label}</summary>
      <div>
        <Field
          name="description"
          label={more.description}
          hint={more.descriptionHint}
          value={sent?.description ?? ''}
          error={errors.description}
          autoComplete="off"
          {...attributes.description}
        />
        <Select
          name="expires_in"
          label={more.expiresIn}
          value={sent?.expires_in ?? ''}
          options={[{ value: '', label: more.asUsual }, ...expiries]}
          error={errors.expires_in}
          {...attributes.expires_in}
        />
      </div>
    </details>
  );
}

function providerHint({ locale }: MerchantView, terms: NewPaymentFormProps['terms']): string {
  const texts = PAYMENT_TEXTS[locale.language];
  const limited = terms.filter(({ provider }) => {
    const { cancel, refund } = PROVIDER_CAPABILITIES[provider];
    return !cancel && !refund;
  });
  return [texts.providerHint, ...limited.map(({ provider }) => texts.noReturn(PROVIDER_NAMES[provider]))].join(' ');
}
