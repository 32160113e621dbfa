import type { ReactElement } from 'react';
import { formatRupiah } from '../../../domain/money';
import { BackLink, Card, DoneNotice } from '../../ui/layout';
import { Timeline, type TimelineEntry } from '../../ui/timeline';
import { Time } from '../../ui/values';
import { renderMerchantPage } from '../merchant-page';
import { PaymentFacts, type FactsOfPayment } from './payment-facts';
import { PaymentHead, type HeadOfPayment } from './payment-head';
import { paymentEventsPath, paymentsPath } from './payment-paths';

export interface TimedEntry extends Omit<TimelineEntry, 'time'> {
  readonly atMs: number;
}

interface PaymentPage extends FactsOfPayment, HeadOfPayment {
  /** Whether anything can still change. */
  readonly isLive: boolean;
  /** How many webhooks were delivered. They are among the details of their steps. */
  readonly delivered: number;
  readonly done: 'refund_requested' | 'cancelled' | 'refund_cancelled' | null;
  readonly entries: readonly TimedEntry[];
}

export function renderPaymentPage(page: PaymentPage): string {
  const { view, payment, statusKey, isLive } = page;
  const events = paymentEventsPath.to({ ...view, ref: payment.referenceId }, { seen: statusKey });
  return renderMerchantPage(view, {
    title: `${formatRupiah(payment.totalRupiah)} · ${payment.merchantReferenceId ?? payment.referenceId}`,
    current: 'payments',
    live: isLive ? { events } : 'none',
    children: <Payment {...page} />,
  });
}

function Payment(page: PaymentPage): ReactElement {
  const { view, entries, delivered, done } = page;
  const { texts, locale } = view;
  const timed = entries.map(({ atMs, ...entry }) => ({
    ...entry,
    time: <Time at={new Date(atMs)} style="full" locale={locale} />,
  }));
  return (
    <>
      <BackLink href={paymentsPath.to(view)} label={texts.detail.back} />
      <div className="stack">
        <DoneNotice text={done && texts.detail.done[done]} isLive />
        <div className="columns">
          <div className="stack">
            <PaymentHead {...page} />
            <Card
              title={texts.detail.timeline}
              aside={delivered > 0 && <span className="dim">{texts.detail.webhooksDelivered(delivered)}</span>}
              part="timeline"
              version={`${page.statusKey}-${entries.length}-${delivered}`}
            >
              <Timeline entries={timed} />
            </Card>
          </div>
          <PaymentFacts {...page} />
        </div>
      </div>
    </>
  );
}
