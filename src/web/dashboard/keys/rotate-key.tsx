import type { ReactElement } from 'react';
import type { ApiKey } from '../../../services/merchants/keys/api-key';
import { KEY_OVERLAPS_HOURS, rotateKey } from '../../../services/merchants/keys/rotate-key';
import { Choices } from '../../ui/choices';
import { FormButtons } from '../../ui/form-frame';
import { Card, Facts, Notice, PageHead } from '../../ui/layout';
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
  const back = keyPath.to(path);
  const overlaps = KEY_OVERLAPS_HOURS.map((hours) => ({
    name: String(hours),
    label: rotate.overlaps[hours],
    isChosen: String(hours) === (sent?.overlap ?? FIRST_OVERLAP),
  }));
  return (
    <div className="narrow">
      <PageHead title={rotate.title} back={{ href: back, label: subject.name ?? unnamed }} />
      <div className="stack">
        {rejection !== null && (
          <Notice tone="warning">
            <p>{rejection}</p>
          </Notice>
        )}
        <p className="text">{rotate.explanation}</p>
        <Card>
          <Facts
            facts={[
              { name: columns.key, value: <code>{subject.masked}</code> },
              ...rightsFacts(view, subject),
              { name: columns.lastUsed, value: <LastUse view={view} shown={subject} /> },
            ]}
          />
        </Card>
        <form className="stack" method="post" action={rotateKeyPath.to(path)}>
          <input type="hidden" name="form_id" value={formId} />
          <Choices
            name="overlap"
            kind="radio"
            label={rotate.overlap}
            choices={overlaps}
            hint={subject.expiresAt ? rotate.newExpiry : undefined}
            {...attributes.overlap}
          />
          <FormButtons label={rotate.button} cancel={form.cancel} back={back} isDisabled={rejection !== null} />
        </form>
      </div>
    </div>
  );
}
