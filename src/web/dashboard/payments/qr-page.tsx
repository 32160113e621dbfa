import type { ReactElement } from 'react';
import { formatRupiah } from '../../../domain/money';
import type { PaymentStatus } from '../../../domain/payment-transitions';
import { drawQrisPath } from '../../../qris/image';
import { shopOf } from '../../../qris/qris';
import type { CheckoutState } from '../../checkout/checkout-state';
import { Icon } from '../../ui/icon';
import { Card, PageHead } from '../../ui/layout';
import { Countdown, Money, Time } from '../../ui/values';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { newPaymentPath, paymentEventsPath, paymentPagePath } from './payment-paths';
import { PAYMENT_TEXTS } from './payment-texts';
import { QrShare, type SharedCode } from './qr-share';

interface QrPage extends SharedCode {
  readonly payment: SharedCode['payment'] & {
    readonly status: PaymentStatus;
    readonly merchantName: string;
    /** The merchant's own number of the order; null if it has none. */
    readonly merchantReferenceId: string | null;
    readonly paidAt: Date | null;
  };
  readonly state: CheckoutState;
  /** Null when it can no longer be paid: then there is no code. */
  readonly payload: string | null;
  readonly statusKey: string;
  readonly isLive: boolean;
}

export function renderQrPage(page: QrPage): string {
  const { view, payment, statusKey, isLive } = page;
  const events = paymentEventsPath.to({ ...view, ref: payment.referenceId }, { seen: statusKey });
  return renderMerchantPage(view, {
    title: `${view.texts.qr.title} · ${formatRupiah(payment.totalRupiah)}`,
    current: 'payments',
    live: isLive ? { events } : 'none',
    reloads: isLive,
    children: <Qr {...page} />,
  });
}

function Qr(page: QrPage): ReactElement {
  const { view, payment, statusKey, state, payload } = page;
  const { texts } = view;
  return (
    <div
      className={payload === null ? 'qr-page ended' : 'qr-page'}
      data-part="qr"
      data-version={`${statusKey}-${state}`}
      data-urgent=""
    >
      <PageHead
        title={payload === null ? texts.detail.title(payment.referenceId) : texts.qr.title}
        back={{ href: paymentPagePath.to({ ...view, ref: payment.referenceId }), label: texts.qr.details }}
      />
      <div className="qr-parts">
        <Card>
          <div className="qr-card">
            <p className="shop">{payment.merchantName}</p>
            <p className="amount">
              <Money rupiah={payment.totalRupiah} />
            </p>
            {payment.merchantReferenceId !== null && (
              <p className="breakable">
                {texts.detail.order}: <b>{payment.merchantReferenceId}</b>
              </p>
            )}
            {payload === null ? <State {...page} /> : <Code {...page} payload={payload} />}
          </div>
        </Card>
        {payload !== null && <QrShare {...page} />}
      </div>
    </div>
  );
}

function Code(page: QrPage & { readonly payload: string }): ReactElement {
  const { view, payment, payload } = page;
  const { qr } = view.texts;
  const { size, path } = drawQrisPath(payload);
  const name = `${qr.codeName}: ${formatRupiah(payment.totalRupiah)}`;
  const shop = shopOf(payload);
  return (
    <>
      <div className="qr" data-until-end="">
        <svg role="img" aria-label={name} viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges">
          <rect width={size} height={size} fill="#fff" />
          <path d={path} fill="#000" />
        </svg>
      </div>
      {shop !== null && (
        <p className="breakable">
          {PAYMENT_TEXTS[view.locale.language].appShows} <b>{shop.merchantName}</b>
          {shop.nmid !== null && ` · NMID ${shop.nmid}`}
        </p>
      )}
      <p className="state waiting">{view.texts.statuses[payment.status]}</p>
      <p className="dim no-print">
        {qr.left}{' '}
        <strong className="countdown">
          <Countdown leftMs={payment.expiresAt.getTime() - view.nowMs} />
        </strong>
        {' · '}
        {qr.until} <Time at={payment.expiresAt} style="time" locale={view.locale} />
      </p>
      <p className="dim">{qr.anyApp}</p>
      <p className="print-only">
        {qr.until} <Time at={payment.expiresAt} style="short" locale={view.locale} />
        <br />
        {payment.referenceId}
      </p>
      <span className="unseen" data-announce="">
        {view.texts.statuses[payment.status]}
      </span>
    </>
  );
}

function State({ view, payment, state }: QrPage): ReactElement {
  const { texts } = view;
  const isPaid = payment.status === 'paid' || payment.status === 'settled';
  const isOpen = state === 'checking' || state === 'preparing';
  const text = stateText(view, payment.status, state);
  return (
    <>
      <span className={isPaid ? 'state-mark' : 'state-mark ended'}>
        <Icon name={isPaid ? 'done' : isOpen ? 'waiting' : 'ended'} />
      </span>
      <p className={isPaid ? 'state paid' : 'state'} data-announce="" data-sound={isPaid ? '' : undefined}>
        {text}
      </p>
      {isPaid && payment.paidAt && (
        <p className="dim">
          <Time at={payment.paidAt} style="full" locale={view.locale} />
        </p>
      )}
      {text === texts.qr.states.ended && <p className="dim">{texts.statuses[payment.status]}</p>}
      {!isOpen && (
        <a className="button primary wide-button no-print" href={newPaymentPath.to(view)} data-focus="">
          {texts.newPayment}
        </a>
      )}
    </>
  );
}

function stateText({ texts: { qr, statuses } }: MerchantView, status: PaymentStatus, state: CheckoutState): string {
  switch (state) {
    case 'preparing':
    case 'checking':
    case 'paid':
      return qr.states[state];
    case 'expired':
    case 'cancelled':
    case 'failed':
      return qr.states.ended;
    case 'waiting':
    case 'refund_processing':
    case 'refund_failed':
    case 'refunded':
      return statuses[status];
  }
}
