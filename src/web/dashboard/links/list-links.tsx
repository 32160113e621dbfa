import type { ReactElement } from 'react';
import { z } from 'zod';
import { listLinks } from '../../../db/links/list-links';
import type { PaymentLinkRow } from '../../../db/links/payment-link-row';
import { decodeCursor, encodeCursor } from '../../../db/payments/cursor';
import { LINK_STATUSES } from '../../../domain/payment-link';
import { memberPage } from '../../page/page-route';
import type { SentFields } from '../../page/read-form';
import { Tabs } from '../../ui/attention';
import { Card, Notice, PageHead } from '../../ui/layout';
import { EmptyState, Pager, Table, type Column } from '../../ui/table';
import { Money } from '../../ui/values';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { renderMerchantPage } from '../merchant-page';
import { merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { paymentsPath } from '../payments/payment-paths';
import { linkAmountText, LinkChip } from './link-parts';
import { linkPath, linksPath, newLinkPath } from './link-paths';
import { LINK_TEXTS } from './link-texts';

const PAGE_SIZE = 50;

const filterSchema = z.object({
  status: z.enum(LINK_STATUSES, { error: 'status' }).optional(),
  older: z
    .string()
    .transform((text, context) => {
      const position = decodeCursor(text);
      if (position) return position;
      context.addIssue('cursor');
      return z.NEVER;
    })
    .optional(),
});

/** The payment links of a merchant. */
export const listLinkPage = memberPage(
  { area: 'payments', level: 'view' },
  {
    method: 'get',
    path: linksPath.pattern,
    fields: filterSchema,
    async handler(dependencies: Pick<DashboardDependencies, 'db' | 'environment'>, visit, query) {
      const view = merchantView(dependencies, visit);
      const { merchantId } = visit.member;
      const filter = query.ok && { merchantId, status: query.values.status, after: query.values.older, at: visit.now };
      const found = filter ? await listLinks(dependencies.db, filter, PAGE_SIZE + 1) : [];
      const page = { view, sent: query.sent, isInvalid: !query.ok, found };
      const { title } = LINK_TEXTS[view.locale.language];
      const children = <LinkList {...page} />;
      const html = renderMerchantPage(view, { title, current: 'payments', live: 'none', children });
      return pageResponse(html, query.ok ? 200 : 422);
    },
  },
);

interface LinkListProps {
  readonly view: MerchantView;
  readonly sent: SentFields;
  readonly isInvalid: boolean;
  /** One more than the page shows, if there is one. */
  readonly found: readonly PaymentLinkRow[];
}

function LinkList({ view, sent, isInvalid, found }: LinkListProps): ReactElement {
  const texts = LINK_TEXTS[view.locale.language];
  const { status, older } = sent;
  const links = found.slice(0, PAGE_SIZE);
  const last = found.length > PAGE_SIZE ? links.at(-1) : undefined;
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
            <p>{texts.errorTitle}</p>
          </Notice>
        )}
        <Tabs name={texts.statusFilter} tabs={tabs} />
        <Card>
          <Table
            caption={texts.caption}
            columns={columnsOf(view)}
            rows={links}
            keyOf={({ id }) => id}
            empty={<Empty view={view} isFiltered={status !== undefined || older !== undefined} />}
          />
          <Pager
            newer={older === undefined ? null : linksPath.to(view, { status })}
            older={last === undefined ? null : linksPath.to(view, { status, older: encodeCursor(last) })}
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

function columnsOf(view: MerchantView): Column<PaymentLinkRow>[] {
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
