import type { ReactElement } from 'react';
import type { PaymentStatus } from '../../../domain/payment-transitions';
import type { CheckoutState } from '../../checkout/checkout-state';
import { Icon } from '../../ui/icon';
import { Money, Time } from '../../ui/values';
import type { MerchantView } from '../merchant-view';
import { newPaymentPath } from './payment-paths';
import { PAYMENT_TEXTS } from './payment-texts';
import { isPaid, type QrPage } from './shown-code';

/** What became of a code that can no longer be paid, and the next step of the cashier. */
export function Outcome({ view, payment, state, dayTotal }: QrPage): ReactElement {
  const { texts, locale } = view;
  const own = PAYMENT_TEXTS[locale.language];
  const paid = isPaid(payment.status);
  const isOpen = state === 'checking' || state === 'preparing';
  const text = stateText(view, payment.status, state);
  return (
    <>
      <span className={paid ? 'state-mark' : 'state-mark ended'}>
        <Icon name={paid ? 'done' : isOpen ? 'waiting' : 'ended'} />
      </span>
      <h1 className={paid ? 'state paid' : 'state'} data-announce="" data-sound={paid ? '' : undefined}>
        {text}
      </h1>
      {paid && payment.paidAt && (
        <p className="dim">
          <Time at={payment.paidAt} style="full" locale={locale} />
        </p>
      )}
      {text === texts.qr.states.ended && <p className="dim">{texts.statuses[payment.status]}</p>}
      <p className="print-only">{payment.referenceId}</p>
      {!isOpen && (
        <div className="next-steps no-print">
          <a className="button primary" href={newPaymentPath.to(view)} data-focus="">
            {texts.newPayment}
          </a>
          {paid && (
            <button type="button" className="button" data-print="" hidden>
              {own.printReceipt}
            </button>
          )}
        </div>
      )}
      {dayTotal !== null && (
        <p className="day-total no-print">
          {own.dayTotal(dayTotal.payments)}
          <b>
            <Money rupiah={dayTotal.totalRupiah} />
          </b>
        </p>
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
