import type { ReactElement } from 'react';
import { CLASS_NAMES } from '../../../domain/class-names';
import type { FeeInvoice, InvoiceLine } from '../../../domain/fee-invoice';
import { formatDigits } from '../../../domain/money';
import { INVOICE_TEXTS, invoiceRateText, NO_TAX_INVOICE, settledText } from '../../../services/invoices/invoice-texts';
import { formatMonth, WIB } from '../../ui/format';
import { Card, Facts, PageHead, type Fact } from '../../ui/layout';
import { Table, type Column } from '../../ui/table';
import { Money, Time } from '../../ui/values';
import { REPORT_STYLES } from '../files';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { INVOICE_PAGE_TEXTS } from './invoice-page-texts';
import { invoiceCsvPath, invoicePath, invoicePdfPath, invoicesPath } from './invoice-paths';

interface InvoicePage {
  readonly view: MerchantView;
  readonly invoice: FeeInvoice;
}

export function renderInvoicePage(page: InvoicePage): string {
  const { view, invoice } = page;
  return renderMerchantPage(view, {
    title: titleOf(page),
    current: 'balance',
    live: 'none',
    styles: REPORT_STYLES,
    children: <Invoice view={view} invoice={invoice} />,
  });
}

function titleOf({ view, invoice: { kind, number } }: InvoicePage): string {
  return `${INVOICE_TEXTS[view.locale.language].kinds[kind]} ${number}`;
}

function Invoice(page: InvoicePage): ReactElement {
  const { view, invoice } = page;
  const { number, lines, sha256 } = invoice;
  const { language } = view.locale;
  const texts = INVOICE_PAGE_TEXTS[language];
  return (
    <>
      <PageHead title={titleOf(page)} back={{ href: invoicesPath.to(view), label: texts.title }}>
        <a className="button no-print" href={invoicePdfPath.to({ ...view, number })} download>
          {texts.pdf}
        </a>
        <a className="button no-print" href={invoiceCsvPath.to({ ...view, number })} download>
          {texts.csv}
        </a>
      </PageHead>
      <div className="stack">
        <Card>
          <Facts facts={factsOf(page)} />
        </Card>
        {lines.length > 0 && (
          <Card title={texts.lines}>
            <Table
              caption={texts.linesCaption}
              columns={columnsOf(view)}
              rows={lines}
              keyOf={(line) => `${line.kind} ${line.class} ${line.basisPoints} ${line.flatRupiah}`}
              empty={null}
            />
          </Card>
        )}
        <Card>
          <div className="card-body text">
            <p>{settledText(language, invoice)}</p>
            {NO_TAX_INVOICE.map((line) => (
              <p key={line} className="dim">
                {line}
              </p>
            ))}
            <p className="dim small">
              {texts.checksum}: <code className="breakable">{sha256}</code>
            </p>
          </div>
        </Card>
      </div>
    </>
  );
}

function factsOf({ view, invoice }: InvoicePage): Fact[] {
  const { locale, code } = view;
  const texts = INVOICE_TEXTS[locale.language];
  const { month, part, corrects, issuedAt, feeRupiah, vatRupiah } = invoice;
  const inWib = { ...locale, zone: WIB };
  const monthName = formatMonth(month, inWib);
  return [
    { name: texts.issuedOn, value: <Time at={issuedAt} style="day" locale={inWib} /> },
    { name: texts.month, value: part === 1 ? monthName : `${monthName}, ${texts.part(part)}` },
    ...(corrects === null
      ? []
      : [{ name: texts.corrects, value: <a href={invoicePath.to({ code, number: corrects })}>{corrects}</a> }]),
    { name: texts.withoutVat, value: <Money rupiah={feeRupiah - vatRupiah} /> },
    { name: texts.vat, value: <Money rupiah={vatRupiah} /> },
    { name: texts.total, value: <Money rupiah={feeRupiah} />, isTotal: true },
  ];
}

function columnsOf({ locale: { language } }: MerchantView): Column<InvoiceLine>[] {
  const { columns, lineKinds } = INVOICE_TEXTS[language];
  return [
    {
      title: columns.kind,
      narrow: 'first',
      cell: (line) => (
        <>
          {lineKinds[line.kind]}
          {line.class !== null && <span className="dim small"> {CLASS_NAMES[language][line.class]}</span>}
        </>
      ),
    },
    { title: columns.rate, narrow: 'second', className: 'unbroken', cell: (line) => invoiceRateText(language, line) },
    { title: columns.count, narrow: 'hidden', className: 'number', cell: ({ count }) => formatDigits(count) },
    {
      title: columns.turnover,
      narrow: 'second-end',
      className: 'number',
      cell: ({ turnoverRupiah }) => <Money rupiah={turnoverRupiah} />,
    },
    {
      title: columns.vat,
      narrow: 'hidden',
      className: 'number',
      cell: ({ vatRupiah }) => <Money rupiah={vatRupiah} />,
    },
    {
      title: columns.fee,
      narrow: 'first-end',
      className: 'number strong',
      cell: ({ feeRupiah }) => <Money rupiah={feeRupiah} />,
    },
  ];
}
