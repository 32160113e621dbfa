import type { ReactElement } from 'react';
import { z } from 'zod';
import { contactHref, MAX_CONTACT_CHARACTERS } from '../../../domain/shop-contact';
import { TIME_ZONES } from '../../../domain/sign-in';
import type { Merchant } from '../../../services/merchants/merchants';
import { MAX_ORIGINS, MAX_URL_CHARACTERS, setMerchant } from '../../../services/merchants/set-merchant';
import type { SentFields } from '../../page/read-form';
import { sentField } from '../../page/sent-field';
import { Choices } from '../../ui/choices';
import { ErrorSummary, Field } from '../../ui/form';
import { Card, PageHead } from '../../ui/layout';
import { TextArea } from '../../ui/text-area';
import { memberFormPages, type FormPage } from '../form-pages';
import { renderMerchantPage } from '../merchant-page';
import { editSettingsPath, settingsPath } from './settings-paths';
import { SETTINGS_TEXTS } from './settings-texts';

const fields = z
  .object({
    zone: z.enum(TIME_ZONES, { error: 'zone' }),
    return_url: z.string().max(MAX_URL_CHARACTERS, { error: 'url' }).default(''),
    contact: z
      .string()
      .max(MAX_CONTACT_CHARACTERS, { error: 'contact' })
      .refine((text) => contactHref(text) !== null, { error: 'contact' })
      .optional(),
    origins: z
      .string()
      .default('')
      .transform((text) => text.split(/\s+/).filter(Boolean))
      .refine((origins) => origins.length <= MAX_ORIGINS, { error: 'origins' }),
  })
  .transform(({ zone: timeZone, return_url: returnUrl, contact = null, origins: checkoutOrigins }) => ({
    timeZone,
    returnUrl: returnUrl === '' ? null : returnUrl,
    contact,
    checkoutOrigins,
  }));

/** The checkout page sends customers to the return address: a thief of it gets their trust. */
export const editSettingsPages = memberFormPages({
  at: editSettingsPath,
  operation: setMerchant,
  path: ({ merchant }) => ({ merchant }),
  fields: () => fields,
  errors: ({ locale }) => SETTINGS_TEXTS[locale.language].errors,
  rejections({ locale }) {
    const { errors } = SETTINGS_TEXTS[locale.language];
    return {
      operators_only: () => errors.form,
      return_url_not_allowed: () => errors.url,
      origin_not_allowed: () => errors.origins,
    };
  },
  fieldOf: { return_url_not_allowed: 'return_url', origin_not_allowed: 'origins' },
  done: (_, { view }) => settingsPath.to(view, { done: 'saved' }),
  render(page) {
    const { editTitle, errorTitle } = SETTINGS_TEXTS[page.view.locale.language];
    return renderMerchantPage(page.view, {
      title: editTitle,
      current: 'settings',
      live: 'none',
      children: (
        <div className="narrow">
          <PageHead title={editTitle} />
          <div className="stack">
            <ErrorSummary title={errorTitle} errors={page.errors} />
            <Card>
              <SettingsForm {...page} />
            </Card>
          </div>
        </div>
      ),
    });
  },
});

function fieldsOf({ timeZone, returnUrl, contact, checkoutOrigins }: Merchant): SentFields {
  return {
    zone: timeZone,
    return_url: returnUrl ?? '',
    contact: contact ?? '',
    origins: checkoutOrigins.join('\n'),
  };
}

function SettingsForm({ view, subject, sent, errors, attributes }: FormPage<Merchant>): ReactElement {
  const texts = SETTINGS_TEXTS[view.locale.language];
  const values = sent ?? fieldsOf(subject);
  const fields = { sent: values, errors, attributes };
  const zones = TIME_ZONES.map((zone) => ({ name: zone, label: texts.zones[zone], isChosen: zone === values.zone }));
  return (
    <form className="card-body stack" method="post" action={editSettingsPath.to(view)}>
      <Choices name="zone" kind="radio" label={texts.zone} choices={zones} error={errors.zone} {...attributes.zone} />
      <Field {...sentField('contact', fields)} label={texts.contact} hint={texts.contactHint} autoComplete="off" />
      <fieldset className="stack">
        <legend>{texts.forSites}</legend>
        <Field
          {...sentField('return_url', fields)}
          label={texts.returnUrl}
          hint={texts.returnHint}
          autoComplete="off"
        />
        <TextArea {...sentField('origins', fields)} label={texts.origins} hint={texts.originsHint} rows={3} />
      </fieldset>
      <div className="buttons">
        <button className="button primary wide-button">{texts.save}</button>
        <a className="button wide-button" href={settingsPath.to(view)}>
          {texts.back}
        </a>
      </div>
    </form>
  );
}
