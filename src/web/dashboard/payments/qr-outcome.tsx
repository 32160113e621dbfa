import type { ReactElement } from 'react';
import type { PaymentStatus } from '../../../domain/payment-transitions';
import { rupiahInWords } from '../../../domain/rupiah-words';
import type { CheckoutState } from '../../checkout/checkout-state';
import { Icon } from '../../ui/icon';
import { LiveMark, liveTime } from '../../ui/live-mark';
import { Money, Time } from '../../ui/values';
import { counterPath } from '../counter/counter-paths';
import { COUNTER_TEXTS } from '../counter/counter-texts';
import type { MerchantView } from '../merchant-view';
import { newPaymentPath, slipPath } from './payment-paths';
import { PAYMENT_TEXTS } from './payment-texts';
import { isPaid, type QrPage } from './shown-code';
import { VoiceSwitch } from './voice-switch';

/** What became of a code that can no longer be paid, and the next step of the cashier. */
export function Outcome(page: QrPage): ReactElement {
  const { view, payment, state, dayTotal } = page;
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
      {paid && <Proof {...page} />}
      {paid && payment.paidAt && (
        <p className="dim">
          <Time at={payment.paidAt} style="full" locale={locale} />
        </p>
      )}
      {text === texts.qr.states.ended && <p className="dim">{texts.statuses[payment.status]}</p>}
      <p className="print-only">{payment.referenceId}</p>
      {!isOpen && <NextSteps {...page} />}
      {dayTotal !== null && dayTotal.payments > 0 && (
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

/** What a screenshot has not: it moves, and it speaks when the payment arrives. */
function Proof({ view, payment }: QrPage): ReactElement {
  const { locale, nowMs } = view;
  const { language } = locale;
  const words = rupiahInWords(payment.totalRupiah, language);
  return (
    <>
      <p data-speak="">
        {COUNTER_TEXTS[language].paid}. {words.slice(0, 1).toUpperCase() + words.slice(1)}.
      </p>
      <LiveMark time={liveTime(nowMs, locale)} locale={locale} endsMs={null} />
    </>
  );
}

/** What the cashier does then. */
function NextSteps({ view, payment, isAtCounter }: QrPage): ReactElement {
  const counter = COUNTER_TEXTS[view.locale.language];
  const next = isAtCounter
    ? { href: counterPath.to(view), label: counter.next }
    : { href: newPaymentPath.to(view), label: view.texts.newPayment };
  const from = isAtCounter ? { from: 'counter' } : {};
  return (
    <div className="next-steps no-print">
      <a className="button primary" href={next.href} data-focus="">
        {next.label}
      </a>
      {isPaid(payment.status) && (
        <>
          <a className="button" href={slipPath.to({ ...view, ref: payment.referenceId }, from)}>
            {counter.slip}
          </a>
          <VoiceSwitch view={view} />
        </>
      )}
    </div>
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
