import type { ReactElement } from 'react';
import { z } from 'zod';
import { keyStateOf } from '../../../domain/key-access';
import { clientAddress } from '../../../http/auth/client-address';
import { allowsAddress } from '../../../lib/allowed-networks';
import { findKey, type ApiKeyDetails } from '../../../services/merchants/keys/api-key';
import { orNoPage } from '../../page/page-error';
import { memberPage } from '../../page/page-route';
import { Card, DoneNotice, Facts, Notice, PageHead, type Fact } from '../../ui/layout';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { renderDeveloperPage } from '../developer-page';
import { merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { requestsPath } from '../requests/request-paths';
import { DayTime, KeyChip, LastUse, rightsFacts } from './key-parts';
import { editKeyPath, keyPath, keysPath, revokeKeyPath, rotateKeyPath } from './key-paths';
import { KEY_TEXTS } from './key-texts';

/** What has just been done with a key. */
const DONE_CODES = ['saved', 'revoked'] as const;

/** One key: its rights, its last use, and what can be done with it. */
export const showKeyPage = memberPage(
  { area: 'developers', level: 'view' },
  {
    method: 'get',
    path: keyPath.pattern,
    fields: z.object({ done: z.enum(DONE_CODES).optional().catch(undefined) }),
    async handler(dependencies: Pick<DashboardDependencies, 'db' | 'environment'>, visit, query) {
      const view = merchantView(dependencies, visit);
      const { key } = keyPath.read(visit.request.params);
      const shown = await findKey(dependencies.db, visit.member, key).catch(orNoPage);
      const done = query.ok ? query.values.done : undefined;
      const address = clientAddress(visit.request);
      const isOutside = done === 'saved' && !allowsAddress(shown.allowedNetworks, address);
      const children = <Key view={view} shown={shown} done={done} outsideAddress={isOutside ? address : null} />;
      const title = shown.name ?? shown.masked;
      return pageResponse(renderDeveloperPage(view, { title, section: 'keys', live: 'none', children }));
    },
  },
);

interface KeyProps {
  readonly view: MerchantView;
  readonly shown: ApiKeyDetails;
  readonly done: (typeof DONE_CODES)[number] | undefined;
  /** The address of the user's browser, if the networks that were saved do not contain it. */
  readonly outsideAddress: string | null;
}

function Key({ view, shown, done, outsideAddress }: KeyProps): ReactElement {
  const { nowMs } = view;
  const texts = KEY_TEXTS[view.locale.language];
  return (
    <div className="narrow">
      <PageHead title={shown.name ?? texts.unnamed} back={{ href: keysPath.to(view), label: texts.title }} />
      <div className="stack">
        <DoneNotice text={done && texts.detail.done[done]} />
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
        <a href={requestsPath.to(view, { key: shown.id })}>{texts.detail.requests}</a>
      </div>
    </div>
  );
}

interface ActionsProps {
  readonly view: MerchantView;
  readonly shown: ApiKeyDetails;
}

function Actions({ view, shown }: ActionsProps): ReactElement {
  const { nowMs } = view;
  const path = { code: view.code, key: shown.id };
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
            <a className="button wide-button" href={editKeyPath.to(path)}>
              {detail.edit}
            </a>
            <a className="button wide-button" href={rotateKeyPath.to(path)}>
              {detail.rotate}
            </a>
          </>
        )}
        <a className="button wide-button danger" href={revokeKeyPath.to(path)}>
          {detail.revoke}
        </a>
      </div>
    </>
  );
}

function factsOf(view: MerchantView, shown: ApiKeyDetails): Fact[] {
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
