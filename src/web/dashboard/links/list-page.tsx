import type { ReactElement } from 'react';
import { LINK_STATUSES } from '../../../domain/payment-link';
import type { SentFields } from '../../page/read-form';
import { Tabs } from '../../ui/attention';
import { Card, Notice, PageHead } from '../../ui/layout';
import { EmptyState, Pager, Table, type Column } from '../../ui/table';
import { Money } from '../../ui/values';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { paymentsPath } from '../payments/payment-paths';
import { linkAmountText, LinkChip } from './link-parts';
import { linkPath, linksPath, newLinkPath } from './link-paths';
import { LINK_TEXTS } from './link-texts';
import type { ShownLink } from './shown-link';

interface LinkListProps {
  readonly view: MerchantView;
  readonly sent: SentFields;
  readonly isInvalid: boolean;
  readonly links: readonly ShownLink[];
  /** Where the next page begins; null: there is none. */
  readonly next: string | null;
}

export function renderLinkList(page: LinkListProps): string {
  const { title } = LINK_TEXTS[page.view.locale.language];
  const children = <LinkList {...page} />;
  return renderMerchantPage(page.view, { title, current: 'payments', live: 'none', children });
}

function LinkList({ view, sent, isInvalid, links, next }: LinkListProps): ReactElement {
  const texts = LINK_TEXTS[view.locale.language];
  const { status, older } = sent;
  const isFiltered = status !== undefined || older !== undefined;
  const tabs = [undefined, ...LINK_STATUSES].map((name) => ({
    label: name === undefined ? texts.all : texts.statuses[name],
    href: linksPath.to(view, { status: name }),
    isCurrent: name === status,
  }));
  return (
    <>
      <PageHead title={texts.title} back={{ href: paymentsPath.to(view), label: view.texts.detail.back }}>
        <NewLinkButton view={view} />
      </PageHead>
      <div className="stack">
        <p className="dim text">{texts.explanation}</p>
        {isInvalid && (
          <Notice tone="bad">
            <p>{texts.wrongFilter}</p>
          </Notice>
        )}
        {(links.length > 0 || isFiltered) && <Tabs name={texts.statusFilter} tabs={tabs} />}
        <Card>
          <Table
            caption={texts.caption}
            columns={columnsOf(view)}
            rows={links}
            keyOf={({ id }) => id}
            empty={<Empty view={view} isFiltered={isFiltered} />}
          />
          <Pager
            newer={older === undefined ? null : linksPath.to(view, { status })}
            older={next === null ? null : linksPath.to(view, { status, older: next })}
            texts={texts.pager}
          />
        </Card>
      </div>
    </>
  );
}

function Empty({ view, isFiltered }: { readonly view: MerchantView; readonly isFiltered: boolean }): ReactElement {
  const texts = LINK_TEXTS[view.locale.language];
  if (!isFiltered) return <EmptyState icon="payments" text={texts.nothing} />;
  return (
    <EmptyState icon="search" text={texts.noMatch}>
      <a className="button" href={linksPath.to(view)}>
        {texts.clear}
      </a>
    </EmptyState>
  );
}

/** For those who may make a link. */
function NewLinkButton({ view }: { readonly view: MerchantView }): ReactElement | null {
  if (view.rightRejection('payments', 'manage') !== null) return null;
  return (
    <a className="button primary" href={newLinkPath.to(view)}>
      {LINK_TEXTS[view.locale.language].newLink}
    </a>
  );
}

function columnsOf(view: MerchantView): Column<ShownLink>[] {
  const { columns, kinds } = LINK_TEXTS[view.locale.language];
  const { code } = view;
  return [
    {
      title: columns.title,
      narrow: 'first',
      className: 'clipped strong',
      cell: ({ referenceId, title }) => (
        <a className="row-link" href={linkPath.to({ code, link: referenceId })}>
          <bdi>{title}</bdi>
        </a>
      ),
    },
    { title: columns.kind, narrow: 'hidden', cell: ({ kind }) => kinds[kind] },
    { title: columns.amount, narrow: 'second', cell: (link) => linkAmountText(view, link) },
    { title: columns.paid, narrow: 'hidden', className: 'number', cell: ({ paidCount }) => paidCount },
    {
      title: columns.sum,
      narrow: 'second-end',
      className: 'number strong',
      cell: ({ paidRupiah }) => <Money rupiah={paidRupiah} />,
    },
    { title: columns.status, narrow: 'first-end', cell: (link) => <LinkChip view={view} link={link} /> },
  ];
}
