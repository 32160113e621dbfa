import type { ReactElement } from 'react';
import { DEFAULT_PROVIDER, PROVIDER_CAPABILITIES, type ProviderName } from '../../../domain/provider-capabilities';
import type { OwnTerms } from '../../../services/payments/create/create-own-payment';
import { sentField } from '../../page/sent-field';
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
  const { view, terms, isClosed, formId, sent, errors, subject, lastAmounts } = page;
  const { create } = view.texts;
  return (
    <form className="card-body" method="post" action={newPaymentPath.to(view)}>
      <input type="hidden" name="form_id" value={formId} />
      <Field
        {...sentField('amount', page)}
        label={create.amount}
        hint={create.amountHint}
        inputMode="numeric"
        autoComplete="off"
        prefix="Rp"
        autoFocus={Object.keys(errors).length === 0}
      />
      <AmountEntry
        view={view}
        feePayer={subject.feePayer}
        terms={terms}
        chosen={chosenOf(page)}
        amount={sent?.amount ?? ''}
        lastAmounts={lastAmounts}
      />
      <Field {...sentField('order', page)} label={create.order} hint={create.orderHint} autoComplete="off" />
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
  const { view, terms, sent, errors } = page;
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
          {...sentField('description', page)}
          label={more.description}
          hint={more.descriptionHint}
          autoComplete="off"
        />
        <Select
          {...sentField('expires_in', page)}
          label={more.expiresIn}
          options={[{ value: '', label: more.asUsual }, ...expiries]}
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
