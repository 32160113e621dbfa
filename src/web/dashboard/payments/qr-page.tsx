import type { ReactElement } from 'react';
import { formatRupiah } from '../../../domain/money';
import { BackLink, Card, PageHead } from '../../ui/layout';
import { Money } from '../../ui/values';
import { COUNTER_SHOWN_SCRIPT, QR_FILES } from '../files';
import { renderMerchantPage } from '../merchant-page';
import { backOf } from './from-counter';
import { paymentEventsPath } from './payment-paths';
import { Code } from './qr-code';
import { Outcome } from './qr-outcome';
import { QrShare } from './qr-share';
import type { QrPage } from './shown-code';

export function renderQrPage(page: QrPage): string {
  const { view, payment, statusKey, isLive, isAtCounter } = page;
  const events = paymentEventsPath.to({ ...view, ref: payment.referenceId }, { seen: statusKey });
  return renderMerchantPage(view, {
    title: `${view.texts.qr.title} · ${formatRupiah(payment.totalRupiah)}`,
    current: 'payments',
    live: isLive ? { events } : 'none',
    reloads: isLive,
    styles: QR_FILES.styles,
    scripts: isAtCounter ? [...QR_FILES.scripts, COUNTER_SHOWN_SCRIPT] : QR_FILES.scripts,
    isBare: isAtCounter,
    isApp: isAtCounter,
    children: <Qr {...page} />,
  });
}

/** The title of a code that can be paid is what the customer does; then it is what became of it. */
function Qr(page: QrPage): ReactElement {
  const { view, payment, statusKey, state, payload, isAtCounter } = page;
  const { texts } = view;
  const back = backOf(view, payment.referenceId, isAtCounter);
  return (
    <div
      className={payload === null ? 'qr-page ended' : 'qr-page'}
      data-part="qr"
      data-version={`${statusKey}-${state}`}
      data-urgent=""
    >
      {payload === null ? <BackLink {...back} /> : <PageHead title={texts.qr.title} back={back} />}
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
            {payload === null ? <Outcome {...page} /> : <Code {...page} payload={payload} />}
          </div>
        </Card>
        {payload !== null && <QrShare {...page} />}
      </div>
    </div>
  );
}
