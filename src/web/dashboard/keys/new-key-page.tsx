import type { ReactElement } from 'react';
import { MERCHANT_SCOPES } from '../../../domain/key-access';
import type { FieldErrors, SentFields } from '../../page/read-form';
import { Choices } from '../../ui/choices';
import { Field } from '../../ui/form';
import { FormFrame } from '../../ui/form-frame';
import { renderDeveloperPage } from '../developer-page';
import type { MerchantView } from '../merchant-view';
import { EXPIRIES, FIRST_SCOPES, scopeField } from './key-fields';
import { NetworksField } from './key-parts';
import { KEY_TEXTS } from './key-texts';

interface NewKeyPage {
  readonly view: MerchantView;
  readonly formId: string;
  /** That of the user's browser. */
  readonly address: string;
  /** Why the merchant cannot create a key; null if it can. */
  readonly rejection: string | null;
  readonly sent: SentFields;
  readonly errors: FieldErrors;
}

export function renderNewKeyPage(page: NewKeyPage): string {
  const title = KEY_TEXTS[page.view.locale.language].form.newTitle;
  return renderDeveloperPage(page.view, { title, section: 'keys', live: 'none', children: <NewKey {...page} /> });
}

function NewKey(page: NewKeyPage): ReactElement {
  const { view, errors, rejection } = page;
  const { form, title } = KEY_TEXTS[view.locale.language];
  return (
    <FormFrame
      title={form.newTitle}
      back={{ href: view.paths.keys, label: title }}
      rejection={rejection}
      errorTitle={form.errorTitle}
      errors={errors}
    >
      <KeyForm {...page} />
    </FormFrame>
  );
}

function KeyForm({ view, formId, address, rejection, sent, errors }: NewKeyPage): ReactElement {
  const { form, scopes } = KEY_TEXTS[view.locale.language];
  const isNew = sent.form_id === undefined;
  const scopeChoices = MERCHANT_SCOPES.map((scope) => ({
    name: scopeField(scope),
    label: scopes[scope],
    isChosen: isNew ? FIRST_SCOPES.includes(scope) : sent[scopeField(scope)] !== undefined,
    rejection: view.scopesRejection([scope]),
  }));
  const expiries = EXPIRIES.map((name) => ({
    name,
    label: form.expiries[name],
    isChosen: name === (sent.expiry ?? 'none'),
  }));
  return (
    <form className="card-body" method="post" action={view.paths.newKey}>
      <input type="hidden" name="form_id" value={formId} />
      <Field
        name="name"
        label={form.name}
        hint={form.nameHint}
        value={sent.name ?? ''}
        error={errors.name}
        autoComplete="off"
        maxLength={64}
        required
      />
      <Choices name="scopes" kind="checkbox" label={form.scopes} choices={scopeChoices} error={errors.scopes} />
      <NetworksField view={view} value={sent.networks ?? ''} address={address} error={errors.networks} />
      <Choices name="expiry" kind="radio" label={form.expiry} choices={expiries} error={errors.expiry} />
      <Field
        name="expires_on"
        type="date"
        label={form.expiryDay}
        value={sent.expires_on ?? ''}
        error={errors.expires_on}
      />
      <div className="buttons">
        <button className="button primary wide-button" disabled={rejection !== null}>
          {form.create}
        </button>
        <a className="button wide-button" href={view.paths.keys}>
          {form.cancel}
        </a>
      </div>
    </form>
  );
}
