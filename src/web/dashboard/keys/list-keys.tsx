import type { ReactElement } from 'react';
import { listNewestKeys, type ApiKey } from '../../../services/merchants/keys/api-key';
import { memberPage, NO_FIELDS } from '../../page/page-route';
import { Card, PageHead } from '../../ui/layout';
import { EmptyState, Table, type Column } from '../../ui/table';
import { Time } from '../../ui/values';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { renderDeveloperPage } from '../developer-page';
import { merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { KeyChip, networksText, scopesText } from './key-parts';
import { keyPath, keysPath, newKeyPath } from './key-paths';
import { KEY_TEXTS } from './key-texts';

/** The keys of a merchant, without their secrets. */
export const listKeyPage = memberPage(
  { area: 'developers', level: 'view' },
  {
    method: 'get',
    path: keysPath.pattern,
    fields: NO_FIELDS,
    async handler(dependencies: Pick<DashboardDependencies, 'db' | 'environment'>, visit) {
      const view = merchantView(dependencies, visit);
      const keys = await listNewestKeys(dependencies.db, visit.member.merchantId);
      const { title } = KEY_TEXTS[view.locale.language];
      const children = <KeyList view={view} keys={keys} />;
      return pageResponse(renderDeveloperPage(view, { title, section: 'keys', live: 'none', children }));
    },
  },
);

interface KeyListProps {
  readonly view: MerchantView;
  readonly keys: readonly ApiKey[];
}

function KeyList({ view, keys }: KeyListProps): ReactElement {
  const texts = KEY_TEXTS[view.locale.language];
  return (
    <>
      <PageHead title={texts.title}>
        <NewKeyLink view={view} />
      </PageHead>
      <div className="stack">
        <p className="dim text">{texts.explanation}</p>
        <Card>
          <Table
            caption={texts.caption}
            columns={columnsOf(view)}
            rows={keys}
            keyOf={({ id }) => id}
            empty={<EmptyState icon="developers" text={texts.nothing} />}
          />
        </Card>
      </div>
    </>
  );
}

/** For those who may create a key. */
function NewKeyLink({ view }: { readonly view: MerchantView }): ReactElement | null {
  if (view.rightRejection('developers', 'manage') !== null) return null;
  return (
    <a className="button primary" href={newKeyPath.to(view)}>
      {KEY_TEXTS[view.locale.language].form.newTitle}
    </a>
  );
}

function columnsOf(view: MerchantView): Column<ApiKey>[] {
  const { locale, code, nowMs } = view;
  const texts = KEY_TEXTS[locale.language];
  const { columns } = texts;
  return [
    {
      title: columns.name,
      narrow: 'first',
      className: 'strong clipped',
      cell: ({ id, name, masked }) => (
        <>
          <a className="row-link" href={keyPath.to({ code, key: id })}>
            {name ?? texts.unnamed}
          </a>
          <code className="dim under">{masked}</code>
        </>
      ),
    },
    {
      title: columns.key,
      narrow: 'second',
      className: 'narrow-only',
      cell: ({ masked }) => <code>{masked}</code>,
    },
    {
      title: columns.scopes,
      narrow: 'hidden',
      className: 'wide-only',
      cell: ({ scopes }) => scopesText(texts, scopes, texts.shortScopes),
    },
    {
      title: columns.networks,
      narrow: 'hidden',
      cell: ({ allowedNetworks }) => networksText(texts, allowedNetworks),
    },
    {
      title: columns.expires,
      narrow: 'hidden',
      className: 'wide-only',
      cell: ({ expiresAt }) => (expiresAt ? <Time at={expiresAt} style="day" locale={locale} /> : texts.never),
    },
    {
      title: columns.lastUsed,
      narrow: 'second-end',
      cell: ({ lastUsedAt, lastUsedFrom }) =>
        lastUsedAt ? (
          <>
            <Time at={lastUsedAt} style="short" locale={locale} />
            {lastUsedFrom !== null && <span className="dim small under">{lastUsedFrom}</span>}
          </>
        ) : (
          <span className="dim">–</span>
        ),
    },
    {
      title: columns.state,
      narrow: 'first-end',
      cell: (key) => <KeyChip shown={key} nowMs={nowMs} texts={texts} />,
    },
  ];
}
