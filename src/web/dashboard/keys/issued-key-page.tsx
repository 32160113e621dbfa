import type { ReactElement } from 'react';
import { CopiedText } from '../../ui/copied-text';
import { Card, Facts, Notice, PageHead, type Fact } from '../../ui/layout';
import { renderDeveloperPage } from '../developer-page';
import type { MerchantView } from '../merchant-view';
import { DayTime, rightsFacts, type ShownKey } from './key-parts';
import { KEY_TEXTS } from './key-texts';

interface IssuedKeyPage {
  readonly view: MerchantView;
  readonly issued: ShownKey & { readonly secret: string };
  /** A command that uses the key; null: there is none for its scopes. */
  readonly command: string | null;
  /** The address of the user's browser, if the key may not be used from it. */
  readonly outsideAddress: string | null;
  /** When the key ends that this one replaces; null: it replaces none. */
  readonly oldKeyEndsAt: Date | null;
}

/** The only page with the secret of a key: nothing reads it again. */
export function renderIssuedKeyPage(page: IssuedKeyPage): string {
  const { title } = KEY_TEXTS[page.view.locale.language].issued;
  return renderDeveloperPage(page.view, { title, section: 'keys', live: 'none', children: <IssuedKey {...page} /> });
}

function IssuedKey({ view, issued, command, outsideAddress, oldKeyEndsAt }: IssuedKeyPage): ReactElement {
  const { texts, paths, locale } = view;
  const keyTexts = KEY_TEXTS[locale.language];
  const page = keyTexts.issued;
  const oldKey: Fact[] = oldKeyEndsAt
    ? [{ name: page.oldKey, value: <DayTime at={oldKeyEndsAt} locale={locale} /> }]
    : [];
  return (
    <div className="narrow">
      <PageHead title={page.title} />
      <div className="stack">
        <Notice tone="warning">
          <b>{page.once}</b>
        </Notice>
        <Card title={page.secret}>
          <div className="card-body">
            <CopiedText name={page.secret} value={issued.secret} copy={texts.copy} />
          </div>
        </Card>
        {command !== null && (
          <Card title={page.test}>
            <div className="card-body">
              <p>{page.testHint}</p>
              <CopiedText name={page.test} value={command} copy={texts.copy} />
            </div>
          </Card>
        )}
        {outsideAddress !== null && (
          <Notice tone="warning">
            <p>{keyTexts.form.outside(outsideAddress)}</p>
          </Notice>
        )}
        <Card>
          <Facts
            facts={[
              { name: keyTexts.columns.name, value: issued.name ?? keyTexts.unnamed },
              ...rightsFacts(view, issued),
              ...oldKey,
            ]}
          />
        </Card>
        <div className="buttons">
          <a className="button primary wide-button" href={paths.key(issued.id)}>
            {page.done}
          </a>
        </div>
      </div>
    </div>
  );
}

interface ExistingKeyPage {
  readonly view: MerchantView;
  readonly keyId: string;
}

/** The form of a key was sent again. */
export function renderExistingKeyPage({ view, keyId }: ExistingKeyPage): string {
  const { exists } = KEY_TEXTS[view.locale.language].issued;
  return renderDeveloperPage(view, {
    title: exists.title,
    section: 'keys',
    live: 'none',
    children: (
      <div className="narrow">
        <PageHead title={exists.title} />
        <div className="stack">
          <Notice tone="info">
            <p>{exists.text}</p>
            <p>{exists.lost}</p>
          </Notice>
          <div className="buttons">
            <a className="button primary wide-button" href={view.paths.key(keyId)}>
              {exists.show}
            </a>
          </div>
        </div>
      </div>
    ),
  });
}
