import type { ReactElement } from 'react';
import type { PaymentStatus } from '../../../domain/payment-transitions';
import type { ProviderName } from '../../../domain/provider-capabilities';
import { rupiahInWords } from '../../../domain/rupiah-words';
import { formatTime, ZONE_NAMES } from '../../ui/format';
import { PageHead } from '../../ui/layout';
import { Money } from '../../ui/values';
import { COUNTER_TEXTS } from '../counter/counter-texts';
import { SLIP_STYLES } from '../files';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { backOf } from './from-counter';
import { PROVIDER_NAMES } from './provider-names';
import { isPaid } from './shown-code';

interface SlipPage {
  readonly view: MerchantView;
  readonly payment: {
    readonly referenceId: string;
    readonly merchantReferenceId: string | null;
    readonly totalRupiah: number;
    readonly status: PaymentStatus;
    readonly provider: ProviderName;
    readonly createdAt: Date;
    readonly paidAt: Date | null;
  };
  /** Null: there is none. */
  readonly description: string | null;
  /** The way back of the page is the counter. */
  readonly isAtCounter: boolean;
}

export function renderSlipPage(page: SlipPage): string {
  const { view, payment } = page;
  const { slipPage } = COUNTER_TEXTS[view.locale.language];
  return renderMerchantPage(view, {
    title: `${slipPage.title} · ${payment.referenceId}`,
    current: 'payments',
    live: 'none',
    showsState: true,
    styles: SLIP_STYLES,
    children: <SlipWithButton {...page} />,
  });
}

function SlipWithButton(page: SlipPage): ReactElement {
  const { view, payment, isAtCounter } = page;
  const { slipPage } = COUNTER_TEXTS[view.locale.language];
  const back = backOf(view, payment.referenceId, isAtCounter);
  return (
    <>
      <div className="no-print">
        <PageHead title={slipPage.title} back={back}>
          <button type="button" className="button primary" data-print="" hidden>
            {slipPage.print}
          </button>
        </PageHead>
        <p className="dim slip-note">{slipPage.paper}</p>
      </div>
      <Slip {...page} />
    </>
  );
}

/** The first line of what is not paid: goods are not handed out for it. */
function Slip({ view, payment, description }: Omit<SlipPage, 'isAtCounter'>): ReactElement {
  const { texts, locale } = view;
  const { slipPage } = COUNTER_TEXTS[locale.language];
  const paid = isPaid(payment.status);
  const words = rupiahInWords(payment.totalRupiah, locale.language);
  const paidAt = payment.paidAt ?? payment.createdAt;
  const at = `${formatTime(paidAt, 'day', locale)} ${formatTime(paidAt, 'second', locale)} ${ZONE_NAMES[locale.zone]}`;
  const facts = [
    [slipPage.time, at],
    [slipPage.order, payment.merchantReferenceId],
    [slipPage.description, description],
    [slipPage.provider, PROVIDER_NAMES[payment.provider]],
    [slipPage.reference, payment.referenceId],
  ] as const;
  return (
    <article className="slip" data-slip="">
      {!paid && <p className="not-paid">{slipPage.notPaid}</p>}
      <p className="shop">{view.merchantName}</p>
      <p className="amount">
        <Money rupiah={payment.totalRupiah} />
      </p>
      <p>{words}</p>
      <p className="status">{paid ? slipPage.paid : texts.statuses[payment.status]}</p>
      <dl>
        {facts.map(
          ([name, value]) =>
            value !== null && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>
                  <bdi>{value}</bdi>
                </dd>
              </div>
            ),
        )}
      </dl>
      {view.isSandbox && <p className="not-paid">SANDBOX</p>}
    </article>
  );
}
