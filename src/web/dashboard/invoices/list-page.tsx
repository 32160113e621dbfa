import type { ReactElement } from 'react';
import type { FeeInvoice } from '../../../domain/fee-invoice';
import { INVOICE_TEXTS } from '../../../services/invoices/invoice-texts';
import { formatMonth, WIB } from '../../ui/format';
import { Card, PageHead } from '../../ui/layout';
import { EmptyState, Pager, Table, type Column } from '../../ui/table';
import { Money, Time } from '../../ui/values';
import { balancePath } from '../balance/balance-paths';
import { BALANCE_TEXTS } from '../balance/balance-texts';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { INVOICE_PAGE_TEXTS } from './invoice-page-texts';
import { invoicePath, invoicesPath } from './invoice-paths';

interface InvoiceListPage {
  readonly view: MerchantView;
  readonly invoices: readonly FeeInvoice[];
  readonly isFirstPage: boolean;
  /** Where the next page begins; null: there is none. */
  readonly older: string | null;
}

export function renderInvoiceList(page: InvoiceListPage): string {
  const { title } = INVOICE_PAGE_TEXTS[page.view.locale.language];
  return renderMerchantPage(page.view, {
    title,
    current: 'balance',
    live: 'none',
    children: <InvoiceList {...page} />,
  });
}

function InvoiceList({ view, invoices, isFirstPage, older }: InvoiceListPage): ReactElement {
  const { language } = view.locale;
  const texts = INVOICE_PAGE_TEXTS[language];
  return (
    <>
      <PageHead title={texts.title} back={{ href: balancePath.to(view), label: BALANCE_TEXTS[language].title }} />
      <div className="stack">
        <p className="dim text">{texts.explanation}</p>
        <Card>
          <Table
            caption={texts.caption}
            columns={columnsOf(view)}
            rows={invoices}
            keyOf={({ id }) => id}
            empty={<EmptyState icon="balance" text={texts.nothing} />}
          />
          <Pager
            newer={isFirstPage ? null : invoicesPath.to(view)}
            older={older && invoicesPath.to(view, { older })}
            texts={texts.pager}
          />
        </Card>
      </div>
    </>
  );
}

function columnsOf({ code, locale }: MerchantView): Column<FeeInvoice>[] {
  const texts = INVOICE_TEXTS[locale.language];
  const inWib = { ...locale, zone: WIB };
  return [
    {
      title: texts.number,
      narrow: 'first',
      cell: ({ number }) => (
        <a className="row-link" href={invoicePath.to({ code, number })}>
          {number}
        </a>
      ),
    },
    { title: INVOICE_PAGE_TEXTS[locale.language].kind, narrow: 'hidden', cell: ({ kind }) => texts.kinds[kind] },
    { title: texts.month, narrow: 'second', cell: ({ month }) => formatMonth(month, inWib) },
    {
      title: texts.issuedOn,
      narrow: 'second-end',
      cell: ({ issuedAt }) => <Time at={issuedAt} style="day" locale={inWib} />,
    },
    {
      title: texts.columns.vat,
      narrow: 'hidden',
      className: 'number',
      cell: ({ vatRupiah }) => <Money rupiah={vatRupiah} />,
    },
    {
      title: texts.columns.fee,
      narrow: 'first-end',
      className: 'number strong',
      cell: ({ feeRupiah }) => <Money rupiah={feeRupiah} />,
    },
  ];
}
