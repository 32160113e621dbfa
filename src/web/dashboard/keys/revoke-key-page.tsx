import type { ReactElement } from 'react';
import { ConfirmForm } from '../../ui/form';
import { Card, Facts, PageHead } from '../../ui/layout';
import { renderDeveloperPage } from '../developer-page';
import type { MerchantView } from '../merchant-view';
import { LastUse, type ShownKey } from './key-parts';
import { KEY_TEXTS } from './key-texts';

interface RevokeKeyPage {
  readonly view: MerchantView;
  readonly shown: ShownKey;
}

export function renderRevokeKeyPage(page: RevokeKeyPage): string {
  const { title } = KEY_TEXTS[page.view.locale.language].revoke;
  return renderDeveloperPage(page.view, { title, section: 'keys', live: 'none', children: <RevokeKey {...page} /> });
}

function RevokeKey({ view, shown }: RevokeKeyPage): ReactElement {
  const { revoke, form, columns, unnamed } = KEY_TEXTS[view.locale.language];
  const back = view.paths.key(shown.id);
  return (
    <div className="narrow">
      <PageHead title={revoke.title} back={{ href: back, label: shown.name ?? unnamed }} />
      <div className="stack">
        <Card>
          <Facts
            facts={[
              { name: columns.name, value: shown.name ?? unnamed },
              { name: columns.key, value: <code>{shown.masked}</code> },
              { name: columns.lastUsed, value: <LastUse view={view} shown={shown} /> },
            ]}
          />
        </Card>
        <p className="text">{revoke.explanation}</p>
        <ConfirmForm
          action={view.paths.revokeKey(shown.id)}
          label={revoke.button}
          tone="danger"
          rejection={shown.revokedAt ? revoke.revoked : null}
        >
          <a className="button wide-button" href={back}>
            {form.cancel}
          </a>
        </ConfirmForm>
      </div>
    </div>
  );
}
