import type { ReactElement } from 'react';
import { Attention, type AttentionRow } from '../../ui/attention';
import { Card, PageHead } from '../../ui/layout';
import { EmptyState } from '../../ui/table';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { NoticeList, type ShownNotice } from '../notices/notice-list';
import { NewPaymentLink, PaymentTable, versionOfTable, type ListedPayment } from '../payments/payment-table';

interface HomePage {
  readonly view: MerchantView;
  readonly payments: readonly ListedPayment[];
  readonly attention: readonly AttentionRow[];
  readonly notices: readonly ShownNotice[];
}

export function renderHomePage(page: HomePage): string {
  return renderMerchantPage(page.view, {
    title: page.view.texts.home.title,
    current: 'home',
    live: 'poll',
    children: <Home {...page} />,
  });
}

function Home({ view, payments, attention, notices }: HomePage): ReactElement {
  const { texts, paths } = view;
  const version = versionOfTable(payments);
  return (
    <>
      <PageHead title={texts.home.title}>
        <NewPaymentLink view={view} />
      </PageHead>
      <div className="stack">
        {attention.length > 0 && (
          <Card title={texts.home.attention} part="attention" version={attention.map(({ text }) => text).join()}>
            <Attention rows={attention} />
          </Card>
        )}
        <NoticeList view={view} notices={notices} />
        <Card
          title={texts.home.newest}
          aside={<a href={paths.payments}>{texts.home.all}</a>}
          part="newest"
          version={version}
        >
          <PaymentTable view={view} payments={payments} empty={<EmptyState text={texts.list.nothing} />} />
        </Card>
      </div>
    </>
  );
}
