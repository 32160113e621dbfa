import type { ReactElement } from 'react';
import { DEFAULT_PROVIDER, PROVIDER_CAPABILITIES, type ProviderName } from '../../../domain/provider-capabilities';
import type { OwnTerms } from '../../../services/payments/create/create-own-payment';
import { Field } from '../../ui/form';
import { formatDuration } from '../../ui/format';
import { Select } from '../../ui/select';
import type { FormPage } from '../form-pages';
import type { MerchantView } from '../merchant-view';
import { AmountEntry, type ShownTerms } from './amount-entry';
import { newPaymentPath } from './payment-paths';
import { PAYMENT_TEXTS } from './payment-texts';
import { ProviderChoices } from './provider-choices';
import { PROVIDER_NAMES } from './provider-names';

/** How long the QR works if it is not as usual, in seconds. */
export const OWN_EXPIRIES = ['300', '900', '3600', '86400'] as const;

interface NewPaymentFormProps extends FormPage<OwnTerms> {
  /** The terms of each provider that can be chosen. */
  readonly terms: readonly { readonly provider: ProviderName; readonly terms: ShownTerms; readonly text: string }[];
  /** The newest amounts of the user. */
  readonly lastAmounts: readonly number[];
  readonly isClosed: boolean;
}

/** The amount is the first field, has the focus, and is enough for a payment. */
export function NewPaymentForm(page: NewPaymentFormProps): ReactElement {
  const { view, terms, isClosed, formId, sent, errors, attributes, subject, lastAmounts } = page;
  const { create } = view.texts;
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
        autoFocus={Object.keys(errors).length === 0}
        {...attributes.amount}
      />
      <AmountEntry
        view={view}
        feePayer={subject.feePayer}
        terms={terms}
        chosen={chosenOf(page)}
        amount={sent?.amount ?? ''}
        lastAmounts={lastAmounts}
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
      <MoreFields {...page} />
      <div className="buttons">
        <button className="button primary wide-button" disabled={isClosed}>
          {create.button}
        </button>
      </div>
    </form>
  );
}

const MORE_FIELDS = ['description', 'expires_in', 'provider'] as const;

/** What few payments need, open if it was filled in. */
function MoreFields(page: NewPaymentFormProps): ReactElement {
  const { view, terms, sent, errors, attributes } = page;
  const { language } = view.locale;
  const { more } = PAYMENT_TEXTS[language];
  const isUsed = [sent, errors].some((fields) => MORE_FIELDS.some((name) => fields?.[name] !== undefined));
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
        <ProviderChoices
          {...page}
          providers={terms.map(({ provider: name, text: note }) => ({ name, note }))}
          chosen={chosenOf(page)}
          hint={providerHint(view, terms)}
        />
      </div>
    </details>
  );
}

function chosenOf({ sent, terms }: NewPaymentFormProps): ProviderName {
  const wanted = sent?.provider ?? DEFAULT_PROVIDER;
  const chosen = terms.find(({ provider }) => provider === wanted) ?? terms[0];
  return chosen?.provider ?? DEFAULT_PROVIDER;
}

function providerHint({ locale }: MerchantView, terms: NewPaymentFormProps['terms']): string {
  const texts = PAYMENT_TEXTS[locale.language];
  const limited = terms.filter(({ provider }) => {
    const { cancel, refund } = PROVIDER_CAPABILITIES[provider];
    return !cancel && !refund;
  });
  return [texts.providerHint, ...limited.map(({ provider }) => texts.noReturn(PROVIDER_NAMES[provider]))].join(' ');
}
