import type { ReactElement } from 'react';
import { keyStateOf } from '../../../domain/key-access';
import { Card, Facts, Notice, PageHead, type Fact } from '../../ui/layout';
import { renderDeveloperPage } from '../developer-page';
import type { MerchantView } from '../merchant-view';
import type { DoneCode } from './key-fields';
import { DayTime, KeyChip, LastUse, rightsFacts, type ShownKey } from './key-parts';
import { KEY_TEXTS } from './key-texts';

interface DetailedKey extends ShownKey {
  /** The name of the member who created it; null: another actor did. */
  readonly creatorName: string | null;
}

interface KeyPage {
  readonly view: MerchantView;
  readonly shown: DetailedKey;
  readonly done: DoneCode | undefined;
  /** The address of the user's browser, if the networks that were saved do not contain it. */
  readonly outsideAddress: string | null;
}

export function renderKeyPage(page: KeyPage): string {
  const { name, masked } = page.shown;
  return renderDeveloperPage(page.view, {
    title: name ?? masked,
    section: 'keys',
    live: 'none',
    children: <Key {...page} />,
  });
}

function Key({ view, shown, done, outsideAddress }: KeyPage): ReactElement {
  const { paths, nowMs } = view;
  const texts = KEY_TEXTS[view.locale.language];
  return (
    <div className="narrow">
      <PageHead title={shown.name ?? texts.unnamed} back={{ href: paths.keys, label: texts.title }} />
      <div className="stack">
        {done && (
          <Notice tone="good">
            <p>{texts.detail.done[done]}</p>
          </Notice>
        )}
        {outsideAddress !== null && (
          <Notice tone="warning">
            <p>{texts.form.outside(outsideAddress)}</p>
          </Notice>
        )}
        <Card>
          <div className="card-body">
            <p className="amount-line">
              <code>{shown.masked}</code>
              <KeyChip shown={shown} nowMs={nowMs} texts={texts} />
            </p>
            <Actions view={view} shown={shown} />
          </div>
        </Card>
        <Card title={texts.detail.facts}>
          <Facts facts={factsOf(view, shown)} />
        </Card>
        <a href={paths.requestsOfKey(shown.id)}>{texts.detail.requests}</a>
      </div>
    </div>
  );
}

interface ActionsProps {
  readonly view: MerchantView;
  readonly shown: ShownKey;
}

function Actions({ view, shown }: ActionsProps): ReactElement {
  const { paths, nowMs } = view;
  const { detail } = KEY_TEXTS[view.locale.language];
  const state = keyStateOf(shown, nowMs);
  const reason = view.rightRejection('developers', 'manage');
  const scopesRejection = view.scopesRejection(shown.scopes);
  if (state === 'revoked' || state === 'expired') return <p className="dim">{detail.ended}</p>;
  if (reason !== null) return <p className="dim">{reason}</p>;
  return (
    <>
      {scopesRejection !== null && <p className="dim">{detail.foreign(scopesRejection)}</p>}
      <div className="buttons">
        {scopesRejection === null && (
          <>
            <a className="button wide-button" href={paths.editKey(shown.id)}>
              {detail.edit}
            </a>
            <a className="button wide-button" href={paths.rotateKey(shown.id)}>
              {detail.rotate}
            </a>
          </>
        )}
        <a className="button wide-button danger" href={paths.revokeKey(shown.id)}>
          {detail.revoke}
        </a>
      </div>
    </>
  );
}

function factsOf(view: MerchantView, shown: DetailedKey): Fact[] {
  const { locale } = view;
  const { columns, detail } = KEY_TEXTS[locale.language];
  const time = (at: Date) => <DayTime at={at} locale={locale} />;
  return [
    ...rightsFacts(view, shown),
    { name: columns.lastUsed, value: <LastUse view={view} shown={shown} /> },
    { name: detail.created, value: time(shown.createdAt) },
    { name: detail.createdBy, value: shown.creatorName ?? detail.lunas },
    ...(shown.revokedAt ? [{ name: detail.revokedAt, value: time(shown.revokedAt) }] : []),
  ];
}
