import type { ReactElement } from 'react';
import { MERCHANT_SCOPES } from '../../../domain/key-access';
import { createKey } from '../../../services/merchants/keys/create-key';
import { sentField } from '../../page/sent-field';
import { Choices } from '../../ui/choices';
import { Field } from '../../ui/form';
import { FormButtons, FormFrame } from '../../ui/form-frame';
import { renderDeveloperPage } from '../developer-page';
import { memberFormPages, type FormPage } from '../form-pages';
import { issuedKeyPage } from './issued-key-page';
import { EXPIRIES, FIRST_SCOPES, newKeyFields, scopeField } from './key-form';
import { NameField, NetworksField } from './key-parts';
import { keysPath, newKeyPath } from './key-paths';
import { KEY_TEXTS } from './key-texts';

export const newKeyPages = memberFormPages({
  at: newKeyPath,
  operation: createKey,
  path: ({ merchant }) => ({ merchant }),
  fields: ({ now, view }) => newKeyFields(now, view.locale),
  errors: ({ locale }) => KEY_TEXTS[locale.language].form.errors,
  rejections: ({ locale }) => ({
    foreign_scopes: () => KEY_TEXTS[locale.language].form.errors.foreign_scopes,
    form_reused: () => KEY_TEXTS[locale.language].form.errors.form,
  }),
  fieldOf: { foreign_scopes: 'scopes' },
  done: (issued, visit) => issuedKeyPage(issued, { ...visit, oldKeyEndsAt: null }),
  render: (page) =>
    renderDeveloperPage(page.view, {
      title: KEY_TEXTS[page.view.locale.language].form.newTitle,
      section: 'keys',
      live: 'none',
      children: <NewKey {...page} />,
    }),
});

function NewKey(page: FormPage<object>): ReactElement {
  const { view, errors, rejection } = page;
  const { form, title } = KEY_TEXTS[view.locale.language];
  return (
    <FormFrame
      title={form.newTitle}
      back={{ href: keysPath.to(view), label: title }}
      rejection={rejection}
      errorTitle={form.errorTitle}
      errors={errors}
    >
      <KeyForm {...page} />
    </FormFrame>
  );
}

function KeyForm(page: FormPage<object>): ReactElement {
  const { view, formId, address, rejection, sent, errors, attributes } = page;
  const { form, scopes } = KEY_TEXTS[view.locale.language];
  const scopeChoices = MERCHANT_SCOPES.map((scope) => ({
    name: scopeField(scope),
    label: scopes[scope],
    isChosen: sent === null ? FIRST_SCOPES.includes(scope) : sent[scopeField(scope)] !== undefined,
    rejection: view.scopesRejection([scope]),
  }));
  const expiryDay = <Field {...sentField('expires_on', page)} type="date" label={form.expiryDay} />;
  const expiries = EXPIRIES.map((name) => ({
    name,
    label: form.expiries[name],
    isChosen: name === (sent?.expiry ?? 'none'),
    details: name === 'date' ? expiryDay : undefined,
  }));
  return (
    <form className="card-body" method="post" action={newKeyPath.to(view)}>
      <input type="hidden" name="form_id" value={formId} />
      <NameField view={view} value={sent?.name} error={errors.name} attributes={attributes} />
      <Choices name="scopes" kind="checkbox" label={form.scopes} choices={scopeChoices} error={errors.scopes} />
      <NetworksField
        view={view}
        value={sent?.networks}
        address={address}
        error={errors.networks}
        attributes={attributes}
      />
      <Choices
        name="expiry"
        kind="radio"
        label={form.expiry}
        choices={expiries}
        error={errors.expiry}
        {...attributes.expiry}
      />
      <FormButtons label={form.create} cancel={form.cancel} back={keysPath.to(view)} isDisabled={rejection !== null} />
    </form>
  );
}
