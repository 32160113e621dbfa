import type { ReactElement } from 'react';
import { Chip } from '../../ui/chip';
import { Card, DoneNotice, PageHead } from '../../ui/layout';
import { OfferedActionButton, type OfferedAction } from '../../ui/offered-action';
import { Timeline, type TimelineEntry } from '../../ui/timeline';
import { Countdown, Money, Time } from '../../ui/values';
import { renderMerchantPage } from '../merchant-page';
import type { NextStep } from './next-step';
import { PaymentFacts, type FactsOfPayment } from './payment-facts';
import { paymentEventsPath, paymentsPath, qrPath } from './payment-paths';

export interface TimedEntry extends Omit<TimelineEntry, 'time'> {
  readonly atMs: number;
}

interface PaymentPage extends FactsOfPayment {
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
          <PaymentFacts {...page} />
        </div>
      </div>
    </>
  );
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
