import type { ReactElement } from 'react';
import { Choices } from '../../ui/choices';
import { Card, Facts, Notice, PageHead } from '../../ui/layout';
import { renderDeveloperPage } from '../developer-page';
import type { MerchantView } from '../merchant-view';
import { OVERLAPS } from './key-fields';
import { LastUse, rightsFacts, type ShownKey } from './key-parts';
import { KEY_TEXTS } from './key-texts';

interface RotateKeyPage {
  readonly view: MerchantView;
  readonly shown: ShownKey;
  readonly formId: string;
  /** The chosen one of `OVERLAPS`. */
  readonly overlap: string;
  /** Why the key cannot be rotated; null if it can. */
  readonly rejection: string | null;
}

export function renderRotateKeyPage(page: RotateKeyPage): string {
  const { title } = KEY_TEXTS[page.view.locale.language].rotate;
  return renderDeveloperPage(page.view, { title, section: 'keys', live: 'none', children: <RotateKey {...page} /> });
}

function RotateKey({ view, shown, formId, overlap, rejection }: RotateKeyPage): ReactElement {
  const { rotate, form, columns, unnamed } = KEY_TEXTS[view.locale.language];
  const back = view.paths.key(shown.id);
  const overlaps = OVERLAPS.map((name) => ({ name, label: rotate.overlaps[name], isChosen: name === overlap }));
  return (
    <div className="narrow">
      <PageHead title={rotate.title} back={{ href: back, label: shown.name ?? unnamed }} />
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
              { name: columns.key, value: <code>{shown.masked}</code> },
              ...rightsFacts(view, shown),
              { name: columns.lastUsed, value: <LastUse view={view} shown={shown} /> },
            ]}
          />
        </Card>
        <form className="stack" method="post" action={view.paths.rotateKey(shown.id)}>
          <input type="hidden" name="form_id" value={formId} />
          <Choices
            name="overlap"
            kind="radio"
            label={rotate.overlap}
            choices={overlaps}
            hint={shown.expiresAt ? rotate.newExpiry : undefined}
          />
          <div className="buttons">
            <button className="button primary wide-button" disabled={rejection !== null}>
              {rotate.button}
            </button>
            <a className="button wide-button" href={back}>
              {form.cancel}
            </a>
          </div>
        </form>
      </div>
    </div>
  );
}
