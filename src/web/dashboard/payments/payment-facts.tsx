import type { ReactElement } from 'react';
import { formatRupiah } from '../../../domain/money';
import { UNPAID_FINAL_STATUSES, type PaymentStatus } from '../../../domain/payment-transitions';
import type { ProviderName } from '../../../domain/provider-capabilities';
import { shopOf } from '../../../qris/qris';
import type { SentDetails } from '../../../services/payments/payment-details';
import { Card, Facts, type Fact } from '../../ui/layout';
import { Id, Money, Time } from '../../ui/values';
import type { MerchantView } from '../merchant-view';
import { customerPath } from './payment-paths';
import type { ListedPayment } from './payment-table';
import { PAYMENT_TEXTS } from './payment-texts';
import { PROVIDER_NAMES } from './provider-names';

interface ShownPayment extends ListedPayment {
  readonly feeRupiah: number;
  readonly vatRupiah: number;
  readonly feePayer: 'merchant' | 'buyer';
  readonly provider: ProviderName;
  readonly status: PaymentStatus;
  readonly paidAt: Date | null;
  readonly expiresAt: Date;
  readonly qrisPayload: string | null;
}

/** Who created the payment, and its policy, in words. */
export interface ShownOrigin {
  readonly createdBy: string;
  /** The page of the key or of the payment link. Null: neither is known, or the user may not see it. */
  readonly creatorHref: string | null;
  readonly requestId: string | null;
  readonly requestHref: string | null;
  readonly policy: string;
}

export interface FactsOfPayment {
  readonly view: MerchantView;
  readonly payment: ShownPayment;
  readonly details: Pick<SentDetails, 'description' | 'returnUrl'>;
  /** Undefined: the payment was archived meanwhile. */
  readonly origin: ShownOrigin | undefined;
  /** Two pages with the same key show the same. */
  readonly statusKey: string;
}

/** What was agreed with the payment, and who created it. */
export function PaymentFacts(page: FactsOfPayment): ReactElement {
  const { facts } = page.view.texts.detail;
  return (
    <Card title={facts} part="facts" version={page.statusKey} aside={<CustomerLink {...page} />}>
      <Facts facts={factsOf(page)} />
    </Card>
  );
}

function CustomerLink({ view, payment }: FactsOfPayment): ReactElement | null {
  if (view.rightRejection('customers', 'view') !== null) return null;
  const { link } = PAYMENT_TEXTS[view.locale.language].customer;
  return <a href={customerPath.to({ ...view, ref: payment.referenceId })}>{link}</a>;
}

function factsOf({ view, payment, details, origin }: FactsOfPayment): Fact[] {
  const { texts, locale } = view;
  const { detail } = texts;
  const { merchantReferenceId, paidAt } = payment;
  const { description, returnUrl } = details;
  return [
    { name: detail.reference, value: <Id value={payment.referenceId} copy={texts.copy} /> },
    ...(merchantReferenceId === null ? [] : [{ name: detail.order, value: merchantReferenceId }]),
    ...(description === null ? [] : [{ name: detail.description, value: <bdi>{description}</bdi> }]),
    { name: detail.created, value: <Time at={payment.createdAt} style="full" locale={locale} /> },
    ...(paidAt === null ? [] : [{ name: detail.paid, value: <Time at={paidAt} style="full" locale={locale} /> }]),
    { name: detail.expires, value: <Time at={payment.expiresAt} style="full" locale={locale} /> },
    ...(returnUrl === null ? [] : [{ name: detail.returnsTo, value: new URL(returnUrl).host }]),
    { name: detail.provider, value: PROVIDER_NAMES[payment.provider] },
    ...shopFacts(view, payment),
    ...(origin ? originFacts(view, origin) : []),
    { name: detail.total, value: <Money rupiah={payment.totalRupiah} /> },
    ...feeFacts(view, payment),
  ];
}

/** The shop in the customer's app, by the account that issued the QR. */
function shopFacts({ locale }: MerchantView, { qrisPayload }: ShownPayment): Fact[] {
  const shop = shopOf(qrisPayload);
  if (shop === null) return [];
  return [
    { name: PAYMENT_TEXTS[locale.language].appShows, value: <bdi>{shop.merchantName}</bdi> },
    ...(shop.nmid === null ? [] : [{ name: 'NMID', value: shop.nmid }]),
  ];
}

/** A refunded payment leaves the merchant its fee. One that ended unpaid has no net amount. */
function feeFacts({ texts, locale }: MerchantView, payment: ShownPayment): Fact[] {
  const own = PAYMENT_TEXTS[locale.language];
  const { status, netRupiah, feeRupiah, vatRupiah, feePayer } = payment;
  const fee = (
    <>
      <Money rupiah={feeRupiah} />
      {vatRupiah > 0 && own.ofWhichVat(formatRupiah(vatRupiah))}
    </>
  );
  if (status === 'refunded') return [{ name: texts.confirm.refund.fee, value: fee, isTotal: true }];
  return [
    { name: texts.detail.fee, value: fee },
    { name: own.feePayer, value: own.feePayers[feePayer] },
    ...(UNPAID_FINAL_STATUSES.includes(status)
      ? []
      : [{ name: texts.detail.net, value: <Money rupiah={netRupiah} />, isTotal: true }]),
  ];
}

function originFacts({ locale, texts }: MerchantView, origin: ShownOrigin): Fact[] {
  const own = PAYMENT_TEXTS[locale.language];
  const { createdBy, creatorHref, requestId, requestHref, policy } = origin;
  return [
    {
      name: own.createdBy,
      value:
        creatorHref === null ? (
          createdBy
        ) : (
          <a href={creatorHref}>
            <bdi>{createdBy}</bdi>
          </a>
        ),
    },
    ...(requestId === null
      ? []
      : [{ name: own.request, value: <RequestId id={requestId} href={requestHref} copy={texts.copy} /> }]),
    { name: own.policy, value: policy },
  ];
}

function RequestId({ id, href, copy }: { id: string; href: string | null; copy: MerchantView['texts']['copy'] }) {
  if (href === null) return <Id value={id} copy={copy} />;
  return (
    <a href={href}>
      <code>{id}</code>
    </a>
  );
}
