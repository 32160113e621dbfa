import type { ReactElement } from 'react';
import { linkStatusOf } from '../../../domain/payment-link';
import { CopiedText } from '../../ui/copied-text';
import { Card, DoneNotice, Facts, PageHead, type Fact } from '../../ui/layout';
import { EmptyState } from '../../ui/table';
import { Id, Money, Time } from '../../ui/values';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { PaymentTable, type ListedPayment } from '../payments/payment-table';
import { PROVIDER_NAMES } from '../payments/provider-names';
import { linkAmountText, LinkChip } from './link-parts';
import { closeLinkPath, linkCardPath, linksPath } from './link-paths';
import { LINK_TEXTS } from './link-texts';
import type { ShownLink } from './shown-link';

interface LinkPageProps {
  readonly view: MerchantView;
  readonly link: ShownLink;
  readonly url: string;
  readonly payments: readonly ListedPayment[];
  /** What the user has done just before. */
  readonly done: 'created' | 'closed' | undefined;
}

export function renderShownLink(page: LinkPageProps): string {
  const { view, link } = page;
  const children = <ShownLinkPage {...page} />;
  return renderMerchantPage(view, { title: link.title, current: 'payments', live: 'none', children });
}

function ShownLinkPage(page: LinkPageProps): ReactElement {
  const { view, link, payments, done } = page;
  const texts = LINK_TEXTS[view.locale.language];
  return (
    <>
      <PageHead title={<bdi>{link.title}</bdi>} back={{ href: linksPath.to(view), label: texts.title }} />
      <div className="stack">
        <DoneNotice text={done && texts.detail.done[done]} />
        {done === 'closed' && <p className="dim text">{texts.detail.stillOpen}</p>}
        <Card>
          <div className="card-body">
            <p className="amount-line">
              <b>{linkAmountText(view, link)}</b>
              <LinkChip view={view} link={link} />
            </p>
            <Sharing {...page} />
            <CloseLink {...page} />
          </div>
        </Card>
        <Card title={texts.detail.facts}>
          <Facts facts={factsOf(view, link)} />
        </Card>
        <Card title={texts.detail.payments}>
          <PaymentTable
            view={view}
            payments={payments}
            empty={<EmptyState icon="payments" text={texts.detail.noPayments} />}
          />
        </Card>
      </div>
    </>
  );
}

/** Only an active link is worth sending. */
function Sharing({ view, link, url }: LinkPageProps): ReactElement | null {
  const { detail } = LINK_TEXTS[view.locale.language];
  if (linkStatusOf(link, view.nowMs) !== 'active') return null;
  const message = `${link.title}\n${linkAmountText(view, link)}\n${url}`;
  return (
    <CopiedText name={detail.address} value={url} copy={detail.copy} isMain>
      <div className="buttons">
        <a
          className="button wide-button"
          href={`https://wa.me/?text=${encodeURIComponent(message)}`}
          rel="noreferrer"
          target="_blank"
        >
          {detail.whatsApp}
        </a>
        <a className="button wide-button" href={linkCardPath.to({ ...view, link: link.referenceId })}>
          {detail.card}
        </a>
        <a className="button wide-button" href={url} rel="noreferrer" target="_blank">
          {detail.open}
        </a>
      </div>
    </CopiedText>
  );
}

function CloseLink({ view, link }: LinkPageProps): ReactElement | null {
  if (linkStatusOf(link, view.nowMs) !== 'active' || view.rightRejection('payments', 'manage') !== null) return null;
  return (
    <div className="buttons">
      <a className="button wide-button danger" href={closeLinkPath.to({ ...view, link: link.referenceId })}>
        {LINK_TEXTS[view.locale.language].detail.close}
      </a>
    </div>
  );
}

function factsOf(view: MerchantView, link: ShownLink): Fact[] {
  const { locale, texts } = view;
  const { columns, detail, kinds } = LINK_TEXTS[locale.language];
  const time = (at: Date) => <Time at={at} style="full" locale={locale} />;
  const { merchantReferenceId, expiresAt, closedAt } = link;
  return [
    { name: detail.reference, value: <Id value={link.referenceId} copy={texts.copy} /> },
    { name: columns.kind, value: kinds[link.kind] },
    ...(merchantReferenceId === null ? [] : [{ name: detail.order, value: <bdi>{merchantReferenceId}</bdi> }]),
    { name: detail.provider, value: PROVIDER_NAMES[link.provider] },
    { name: detail.created, value: time(link.createdAt) },
    { name: detail.expires, value: expiresAt === null ? detail.never : time(expiresAt) },
    ...(closedAt === null ? [] : [{ name: detail.closed, value: time(closedAt) }]),
    { name: detail.paid, value: link.paidCount },
    { name: detail.sum, value: <Money rupiah={link.paidRupiah} />, isTotal: true },
  ];
}
