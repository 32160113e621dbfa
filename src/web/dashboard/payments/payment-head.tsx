import type { ReactElement } from 'react';
import { UNPAID_FINAL_STATUSES, type PaymentStatus } from '../../../domain/payment-transitions';
import { Chip, toneOf } from '../../ui/chip';
import { OfferedActionButton, type OfferedAction } from '../../ui/offered-action';
import { Countdown, Money, Time } from '../../ui/values';
import type { NextStep } from './next-step';
import type { FactsOfPayment } from './payment-facts';
import { qrPath } from './payment-paths';

export interface HeadOfPayment {
  readonly next: NextStep;
  readonly hasQr: boolean;
  readonly actions: readonly OfferedAction[];
}

/** Amount and status, what happens next, where the money is, and what can be done about it. */
export function PaymentHead(page: FactsOfPayment & HeadOfPayment): ReactElement {
  const { view, payment, next, actions, hasQr, statusKey } = page;
  const { texts } = view;
  const label = texts.statuses[payment.status];
  const version = `${statusKey}-${hasQr}-${next.isCountdown}`;
  return (
    <section className={`card state-head ${toneOf(payment.status)}`} data-part="head" data-version={version}>
      <div className="card-body">
        <h1 className="amount-line">
          <span className="amount">
            <Money rupiah={payment.totalRupiah} />
          </span>{' '}
          <Chip status={payment.status} label={label} />
        </h1>
        <span className="unseen" data-announce="">
          {label}
        </span>
        <p className="breakable">
          {payment.merchantReferenceId !== null && (
            <>
              {texts.detail.order} <b>{payment.merchantReferenceId}</b>{' '}
            </>
          )}
          <code className="dim">{payment.referenceId}</code>
        </p>
        <Next {...page} />
        <Split {...page} />
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
    </section>
  );
}

function Next({ view, next }: FactsOfPayment & HeadOfPayment): ReactElement {
  return (
    <p className="next">
      {next.text}
      {next.at && ' '}
      {next.at && next.isCountdown && (
        <strong>
          <Countdown leftMs={next.at.getTime() - view.nowMs} />
        </strong>
      )}
      {next.at && !next.isCountdown && (
        <strong>
          <Time at={next.at} style="short" locale={view.locale} />
        </strong>
      )}
    </p>
  );
}

/** The money goes back to the customer. A failed refund leaves it at the shop. */
const RETURNED: ReadonlySet<PaymentStatus> = new Set(['refund_processing', 'refunded']);

/** How what the customer pays is divided between the fee and the shop, for money that the shop has or gets. */
function Split({ view, payment }: FactsOfPayment): ReactElement | null {
  const { detail } = view.texts;
  const { totalRupiah, feeRupiah, netRupiah, status } = payment;
  if (RETURNED.has(status) || UNPAID_FINAL_STATUSES.includes(status)) return null;
  const share = Math.round((1_000 * netRupiah) / totalRupiah) / 10;
  return (
    <div className="split">
      <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        <rect width="100" height="1" />
        <rect className="own" width={Math.min(share, 99)} height="1" />
      </svg>
      <p>
        {detail.total} <Money rupiah={totalRupiah} />
      </p>
      <p>
        {detail.fee} <Money rupiah={feeRupiah} />
      </p>
      <p className="own">
        {detail.net} <Money rupiah={netRupiah} />
      </p>
    </div>
  );
}
