import type { ReactElement } from 'react';
import type { FieldErrors } from '../../page/read-form';
import { Field } from '../../ui/form';
import { FormFrame } from '../../ui/form-frame';
import { renderDeveloperPage } from '../developer-page';
import type { MerchantView } from '../merchant-view';
import { NetworksField, type ShownKey } from './key-parts';
import { KEY_TEXTS } from './key-texts';

interface EditKeyPage {
  readonly view: MerchantView;
  readonly shown: ShownKey;
  /** That of the user's browser. */
  readonly address: string;
  /** Why the merchant cannot change the key; null if it can. */
  readonly rejection: string | null;
  readonly values: { readonly name: string; readonly networks: string };
  readonly errors: FieldErrors;
}

export function renderEditKeyPage(page: EditKeyPage): string {
  const title = KEY_TEXTS[page.view.locale.language].form.editTitle;
  return renderDeveloperPage(page.view, { title, section: 'keys', live: 'none', children: <EditKey {...page} /> });
}

function EditKey({ view, shown, address, rejection, values, errors }: EditKeyPage): ReactElement {
  const { form, unnamed } = KEY_TEXTS[view.locale.language];
  const back = view.paths.key(shown.id);
  return (
    <FormFrame
      title={form.editTitle}
      back={{ href: back, label: shown.name ?? unnamed }}
      rejection={rejection}
      errorTitle={form.errorTitle}
      errors={errors}
    >
      <form className="card-body" method="post" action={view.paths.editKey(shown.id)}>
        <Field
          name="name"
          label={form.name}
          hint={form.nameHint}
          value={values.name}
          error={errors.name}
          autoComplete="off"
          maxLength={64}
          required
        />
        <NetworksField view={view} value={values.networks} address={address} error={errors.networks} />
        <div className="buttons">
          <button className="button primary wide-button" disabled={rejection !== null}>
            {form.save}
          </button>
          <a className="button wide-button" href={back}>
            {form.cancel}
          </a>
        </div>
      </form>
    </FormFrame>
  );
}
