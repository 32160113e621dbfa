import type { ReactElement } from 'react';
import { UNPAID_FINAL_STATUSES, type PaymentStatus } from '../../../domain/payment-transitions';
import type { ProviderName } from '../../../domain/provider-capabilities';
import type { SentDetails } from '../../../services/payments/payment-details';
import { Chip } from '../../ui/chip';
import { Card, DoneNotice, Facts, PageHead, type Fact } from '../../ui/layout';
import { Timeline, type TimelineEntry } from '../../ui/timeline';
import { Countdown, Id, Money, Time } from '../../ui/values';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import type { NextStep } from './next-step';
import { customerPath, paymentEventsPath, paymentsPath, qrPath } from './payment-paths';
import type { ListedPayment } from './payment-table';
import { PAYMENT_TEXTS } from './payment-texts';
import { PROVIDER_NAMES } from './provider-names';

interface ShownPayment extends ListedPayment {
  readonly feeRupiah: number;
  readonly feePayer: 'merchant' | 'buyer';
  readonly provider: ProviderName;
  readonly status: PaymentStatus;
  readonly paidAt: Date | null;
  readonly expiresAt: Date;
}

/** Who created the payment, and its policy, in words. */
export interface ShownOrigin {
  readonly createdBy: string;
  /** Null: no key is known, or the user may not see it. */
  readonly keyHref: string | null;
  readonly requestId: string | null;
  readonly requestHref: string | null;
  readonly policy: string;
}

export interface TimedEntry extends Omit<TimelineEntry, 'time'> {
  readonly atMs: number;
}

/** An action that concerns the payment now. */
export interface OfferedAction {
  readonly label: string;
  readonly href: string;
  /** Why it is not possible; null if it is. */
  readonly rejection: string | null;
  readonly tone?: 'primary' | 'danger';
}

interface PaymentPage {
  readonly view: MerchantView;
  readonly payment: ShownPayment;
  readonly details: Pick<SentDetails, 'description' | 'returnUrl'>;
  /** Undefined: the payment was archived meanwhile. */
  readonly origin: ShownOrigin | undefined;
  readonly statusKey: string;
  /** Whether anything can still change. */
  readonly isLive: boolean;
  readonly done: 'refund_requested' | 'cancelled' | 'refund_cancelled' | null;
  readonly next: NextStep;
  readonly hasQr: boolean;
  readonly actions: readonly OfferedAction[];
  readonly entries: readonly TimedEntry[];
}

export function renderPaymentPage(page: PaymentPage): string {
  const { view, payment, statusKey, isLive } = page;
  const events = paymentEventsPath.to({ ...view, ref: payment.referenceId }, { seen: statusKey });
  return renderMerchantPage(view, {
    title: view.texts.detail.title(payment.referenceId),
    current: 'payments',
    live: isLive ? { events } : 'none',
    children: <Payment {...page} />,
  });
}

function Payment(page: PaymentPage): ReactElement {
  const { view, payment, entries, done } = page;
  const { texts, locale } = view;
  const timed = entries.map(({ atMs, ...entry }) => ({
    ...entry,
    time: <Time at={new Date(atMs)} style="full" locale={locale} />,
  }));
  return (
    <>
      <PageHead
        title={texts.detail.title(payment.referenceId)}
        back={{ href: paymentsPath.to(view), label: texts.detail.back }}
      />
      <div className="stack">
        <DoneNotice text={done && texts.detail.done[done]} isLive />
        <div className="columns">
          <div className="stack">
            <Head {...page} />
            <Card title={texts.detail.timeline} part="timeline" version={`${page.statusKey}-${entries.length}`}>
              <Timeline entries={timed} />
            </Card>
          </div>
          <Card title={texts.detail.facts} part="facts" version={page.statusKey} aside={<CustomerLink {...page} />}>
            <Facts facts={factsOf(page)} />
          </Card>
        </div>
      </div>
    </>
  );
}

function CustomerLink({ view, payment }: PaymentPage): ReactElement | null {
  if (view.rightRejection('customers', 'view') !== null) return null;
  const { link } = PAYMENT_TEXTS[view.locale.language].customer;
  return <a href={customerPath.to({ ...view, ref: payment.referenceId })}>{link}</a>;
}

/** Amount, status, what happens next, and what can be done about it. */
function Head({ view, payment, next, actions, hasQr, statusKey }: PaymentPage): ReactElement {
  const { texts, locale, nowMs } = view;
  const label = texts.statuses[payment.status];
  return (
    <Card part="head" version={`${statusKey}-${hasQr}-${next.isCountdown}`}>
      <div className="card-body">
        <p className="amount-line">
          <span className="amount">
            <Money rupiah={payment.totalRupiah} />
          </span>
          <Chip status={payment.status} label={label} />
          <span className="unseen" data-announce="">
            {label}
          </span>
        </p>
        <p className="next">
          {next.text}
          {next.at && ' '}
          {next.at && next.isCountdown && (
            <strong>
              <Countdown leftMs={next.at.getTime() - nowMs} />
            </strong>
          )}
          {next.at && !next.isCountdown && (
            <strong>
              <Time at={next.at} style="short" locale={locale} />
            </strong>
          )}
        </p>
        {(hasQr || actions.length > 0) && (
          <div className="buttons">
            {hasQr && view.rightRejection('payments', 'manage') === null && (
              <a className="button primary" href={qrPath.to({ ...view, ref: payment.referenceId })}>
                {texts.detail.showQr}
              </a>
            )}
            {actions.map((action) => (
              <OfferedActionButton key={action.href} {...action} />
            ))}
          </div>
        )}
      </div>
    </Card>
  );
}

/** Never hidden: a disabled button has its reason beside it. */
export function OfferedActionButton({ label, href, rejection, tone }: OfferedAction): ReactElement {
  if (rejection === null) {
    return (
      <a className={`button wide-button ${tone ?? ''}`} href={href}>
        {label}
      </a>
    );
  }
  const reasonId = `why-not-${href.slice(href.lastIndexOf('/') + 1)}`;
  return (
    <div className="rejected-action">
      <button type="button" className="button wide-button" disabled aria-describedby={reasonId}>
        {label}
      </button>
      <p id={reasonId} className="dim">
        {rejection}
      </p>
    </div>
  );
}

function factsOf({ view, payment, details, origin }: PaymentPage): Fact[] {
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
    ...(origin ? originFacts(view, origin) : []),
    { name: detail.total, value: <Money rupiah={payment.totalRupiah} /> },
    ...feeFacts(view, payment),
  ];
}

/** A refunded payment leaves the merchant its fee. One that ended unpaid has no net amount. */
function feeFacts({ texts, locale }: MerchantView, { status, netRupiah, feeRupiah, feePayer }: ShownPayment): Fact[] {
  const own = PAYMENT_TEXTS[locale.language];
  const fee = <Money rupiah={feeRupiah} />;
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
  const { createdBy, keyHref, requestId, requestHref, policy } = origin;
  return [
    { name: own.createdBy, value: keyHref === null ? createdBy : <a href={keyHref}>{createdBy}</a> },
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
