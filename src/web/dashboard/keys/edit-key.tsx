import type { ReactElement } from 'react';
import type { ApiKey } from '../../../services/merchants/keys/api-key';
import { updateKey } from '../../../services/merchants/keys/update-key';
import { FormButtons, FormFrame } from '../../ui/form-frame';
import { renderDeveloperPage } from '../developer-page';
import { memberFormPages, type FormPage } from '../form-pages';
import { editKeyFields } from './key-form';
import { NameField, NetworksField } from './key-parts';
import { editKeyPath, keyPath } from './key-paths';
import { KEY_TEXTS } from './key-texts';

export const editKeyPages = memberFormPages({
  at: editKeyPath,
  operation: updateKey,
  path: ({ key }) => ({ key }),
  fields: () => editKeyFields,
  errors: ({ locale }) => KEY_TEXTS[locale.language].form.errors,
  rejections: ({ onlyRoles }) => ({ foreign_scopes: ({ roles }) => onlyRoles(roles) }),
  done: ({ id }, { view: { code } }) => keyPath.to({ code, key: id }, { done: 'saved' }),
  render: (page) =>
    renderDeveloperPage(page.view, {
      title: KEY_TEXTS[page.view.locale.language].form.editTitle,
      section: 'keys',
      live: 'none',
      children: <EditKey {...page} />,
    }),
});

function EditKey({ view, subject, address, rejection, sent, errors, attributes }: FormPage<ApiKey>): ReactElement {
  const { form, unnamed } = KEY_TEXTS[view.locale.language];
  const path = { code: view.code, key: subject.id };
  const back = keyPath.to(path);
  const shown = sent ?? { name: subject.name ?? '', networks: subject.allowedNetworks.join('\n') };
  return (
    <FormFrame
      title={form.editTitle}
      back={{ href: back, label: subject.name ?? unnamed }}
      rejection={rejection}
      errorTitle={form.errorTitle}
      errors={errors}
    >
      <form className="card-body" method="post" action={editKeyPath.to(path)}>
        <NameField view={view} value={shown.name} error={errors.name} attributes={attributes} />
        <NetworksField
          view={view}
          value={shown.networks}
          address={address}
          error={errors.networks}
          attributes={attributes}
        />
        <FormButtons label={form.save} cancel={form.cancel} back={back} isDisabled={rejection !== null} />
      </form>
    </FormFrame>
  );
}
