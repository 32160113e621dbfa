import type { ReactElement } from 'react';
import { LINK_KINDS } from '../../../domain/payment-link';
import { DEFAULT_PROVIDER } from '../../../domain/provider-capabilities';
import type { Language } from '../../../domain/sign-in';
import type { LinkRejection } from '../../../services/links/create-link';
import { createOwnLink, type LinkingMerchant } from '../../../services/links/create-own-link';
import { sentField } from '../../page/sent-field';
import { Choices } from '../../ui/choices';
import { ErrorSummary, Field } from '../../ui/form';
import { ZONE_NAMES } from '../../ui/format';
import { Card, Notice, PageHead } from '../../ui/layout';
import { memberFormPages, type FormPage } from '../form-pages';
import { renderMerchantPage } from '../merchant-page';
import { merchantRejection } from '../merchant-view';
import { creationText } from '../payments/create-rejections';
import { ProviderChoices } from '../payments/provider-choices';
import { linkPath, linksPath, newLinkPath } from './link-paths';
import { LINK_TEXTS } from './link-texts';
import { newLinkFields } from './new-link-fields';

/** Beside which field the text of a rejection stands. */
const FIELDS: Readonly<Partial<Record<string, string>>> = {
  provider_not_enabled: 'provider',
  expires_at_out_of_range: 'expires',
  amount_beside_bounds: 'amount',
  minimum_above_maximum: 'maximum',
  fee_reaches_amount: 'amount',
  total_too_large: 'amount',
};

function rejectionText(language: Language, why: LinkRejection): string {
  const isOfFee = why.reason === 'fee_reaches_amount' || why.reason === 'total_too_large';
  return isOfFee ? creationText(language, why) : LINK_TEXTS[language].rejections[why.reason];
}

export const newLinkPages = memberFormPages({
  at: newLinkPath,
  operation: createOwnLink,
  path: () => ({}),
  fields: ({ view }) => newLinkFields(view.locale.zone),
  errors: ({ locale }) => LINK_TEXTS[locale.language].form.errors,
  rejections: ({ locale }) => ({ not_created: ({ why }) => rejectionText(locale.language, why) }),
  fieldOf: (rejection) => (rejection.reason === 'not_created' ? FIELDS[rejection.why.reason] : undefined),
  done: ({ referenceId }, { view }) => linkPath.to({ ...view, link: referenceId }, { done: 'created' }),
  render: (page) =>
    renderMerchantPage(page.view, {
      title: LINK_TEXTS[page.view.locale.language].form.heading,
      current: 'payments',
      live: 'none',
      children: <NewLink {...page} />,
    }),
});

function NewLink(page: FormPage<LinkingMerchant>): ReactElement {
  const { view, errors, rejection } = page;
  const texts = LINK_TEXTS[view.locale.language];
  const closed = merchantRejection(view);
  return (
    <div className="narrow">
      <PageHead title={texts.form.heading} back={{ href: linksPath.to(view), label: texts.title }} />
      <div className="stack">
        {rejection !== null && rejection !== closed && (
          <Notice tone="bad">
            <p>{rejection}</p>
          </Notice>
        )}
        <ErrorSummary title={texts.form.errorTitle} errors={errors} />
        <Card>
          <form className="card-body" method="post" action={newLinkPath.to(view)}>
            <input type="hidden" name="form_id" value={page.formId} />
            <MainFields {...page} />
            <MoreFields {...page} />
            <div className="buttons">
              <button className="button primary wide-button" disabled={closed !== null}>
                {texts.form.button}
              </button>
            </div>
          </form>
        </Card>
      </div>
    </div>
  );
}

function MainFields(page: FormPage<LinkingMerchant>): ReactElement {
  const { view, sent, errors, attributes } = page;
  const { form, kinds } = LINK_TEXTS[view.locale.language];
  const chosen = sent?.kind ?? 'once';
  return (
    <>
      <Field {...sentField('title', page)} label={form.title} hint={form.titleHint} autoComplete="off" />
      <Choices
        name="kind"
        kind="radio"
        label={form.kind}
        choices={LINK_KINDS.map((name) => ({
          name,
          label: `${kinds[name]}. ${form.kindHints[name]}`,
          isChosen: name === chosen,
        }))}
        error={errors.kind}
        {...attributes.kind}
      />
      <Field
        {...sentField('amount', page)}
        label={form.amount}
        hint={form.amountHint}
        inputMode="numeric"
        autoComplete="off"
        prefix="Rp"
      />
      <Choices
        name="open_amount"
        kind="checkbox"
        label={form.openLabel}
        choices={[{ name: 'open', label: form.open, isChosen: sent?.open === 'on' }]}
        error={errors.open}
      />
    </>
  );
}

/** What few links need, open if it was filled in. */
function MoreFields(page: FormPage<LinkingMerchant>): ReactElement {
  const { view, subject, sent, errors } = page;
  const { language, zone } = view.locale;
  const { form } = LINK_TEXTS[language];
  const names = ['minimum', 'maximum', 'order', 'provider', 'expires'] as const;
  const isUsed = names.some((name) => sent?.[name] !== undefined || errors[name] !== undefined);
  const text = (name: (typeof names)[number]) => ({ ...sentField(name, page), autoComplete: 'off' });
  return (
    <details className="more-fields" open={isUsed}>
      <summary>{form.more}</summary>
      <div>
        <Field {...text('minimum')} label={form.minimum} hint={form.boundsHint} inputMode="numeric" prefix="Rp" />
        <Field {...text('maximum')} label={form.maximum} inputMode="numeric" prefix="Rp" />
        <Field {...text('order')} label={view.texts.create.order} hint={form.orderHint} />
        <Field
          {...text('expires')}
          label={form.expires}
          hint={form.expiresHint(ZONE_NAMES[zone])}
          type="datetime-local"
        />
        <ProviderChoices
          {...page}
          providers={subject.providers.map((name) => ({ name }))}
          chosen={sent?.provider ?? DEFAULT_PROVIDER}
        />
      </div>
    </details>
  );
}
