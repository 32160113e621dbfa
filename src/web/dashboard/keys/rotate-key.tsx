import type { ReactElement } from 'react';
import type { ApiKey } from '../../../services/merchants/keys/api-key';
import { KEY_OVERLAPS_HOURS, rotateKey } from '../../../services/merchants/keys/rotate-key';
import { Choices } from '../../ui/choices';
import { ConfirmPage } from '../../ui/confirm-page';
import { renderDeveloperPage } from '../developer-page';
import { memberFormPages, type FormPage } from '../form-pages';
import { issuedKeyPage } from './issued-key-page';
import { rotateKeyFields } from './key-form';
import { LastUse, rightsFacts } from './key-parts';
import { keyPath, rotateKeyPath } from './key-paths';
import { KEY_TEXTS } from './key-texts';

/** The overlap that the form shows at first, in hours. */
const FIRST_OVERLAP = '24';

export const rotateKeyPages = memberFormPages({
  at: rotateKeyPath,
  operation: rotateKey,
  path: ({ key }) => ({ key }),
  fields: () => rotateKeyFields,
  errors: ({ locale }) => KEY_TEXTS[locale.language].form.errors,
  rejections: ({ locale, onlyRoles }) => ({
    key_ended: () => KEY_TEXTS[locale.language].detail.ended,
    foreign_scopes: ({ roles }) => onlyRoles(roles),
  }),
  done: ({ issued, oldKeyEndsAt }, visit) => issuedKeyPage(issued, { ...visit, oldKeyEndsAt }),
  render: (page) =>
    renderDeveloperPage(page.view, {
      title: KEY_TEXTS[page.view.locale.language].rotate.title,
      section: 'keys',
      live: 'none',
      children: <RotateKey {...page} />,
    }),
});

function RotateKey({ view, subject, formId, sent, rejection, attributes }: FormPage<ApiKey>): ReactElement {
  const { rotate, form, columns, unnamed } = KEY_TEXTS[view.locale.language];
  const path = { code: view.code, key: subject.id };
  const overlaps = KEY_OVERLAPS_HOURS.map((hours) => ({
    name: String(hours),
    label: rotate.overlaps[hours],
    isChosen: String(hours) === (sent?.overlap ?? FIRST_OVERLAP),
  }));
  return (
    <ConfirmPage
      title={rotate.title}
      back={{ href: keyPath.to(path), label: subject.name ?? unnamed }}
      facts={[
        { name: columns.key, value: <code>{subject.masked}</code> },
        ...rightsFacts(view, subject),
        { name: columns.lastUsed, value: <LastUse view={view} shown={subject} /> },
      ]}
      explanation={rotate.explanation}
      action={rotateKeyPath.to(path)}
      button={rotate.button}
      cancel={form.cancel}
      tone="primary"
      fields={{ form_id: formId }}
      rejection={rejection}
      question={
        <Choices
          name="overlap"
          kind="radio"
          label={rotate.overlap}
          choices={overlaps}
          hint={subject.expiresAt ? rotate.newExpiry : undefined}
          {...attributes.overlap}
        />
      }
    />
  );
}
