import type { ReactElement } from 'react';
import { formatRupiah } from '../../../domain/money';
import { drawQrisPath } from '../../../qris/image';
import { shopOf } from '../../../qris/qris';
import { TEXTS } from '../../checkout/texts';
import { MINUTES_OF_HOURS } from '../../ui/format';
import { Countdown, Time } from '../../ui/values';
import { PAYMENT_TEXTS } from './payment-texts';
import type { QrPage } from './shown-code';

/** The code in its frame, as the customer's app and the checkout name the shop, and the time that is left. */
export function Code(page: QrPage & { readonly payload: string }): ReactElement {
  const { view, payment, payload } = page;
  const { qr, statuses } = view.texts;
  const { size, path } = drawQrisPath(payload);
  const name = `${qr.codeName}: ${formatRupiah(payment.totalRupiah)}`;
  const shop = shopOf(payload);
  return (
    <>
      <figure className="qr" data-until-end="">
        <p className="mark">
          <b>QRIS</b> <span>{TEXTS[view.locale.language].anyApp}</span>
        </p>
        <svg role="img" aria-label={name} viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges">
          <rect width={size} height={size} fill="#fff" />
          <path d={path} fill="#000" />
        </svg>
        {shop !== null && (
          <figcaption>
            {PAYMENT_TEXTS[view.locale.language].appShows} <b>{shop.merchantName}</b>
            {shop.nmid !== null && `NMID ${shop.nmid}`}
          </figcaption>
        )}
      </figure>
      <TimeLeft {...page} />
      <p className="print-only">
        {qr.until} <Time at={payment.expiresAt} style="short" locale={view.locale} />
        <br />
        {payment.referenceId}
      </p>
      <span className="unseen" data-announce="">
        {statuses[payment.status]}
      </span>
    </>
  );
}

function TimeLeft({ view, payment }: QrPage): ReactElement {
  const { qr, statuses } = view.texts;
  const leftMs = Math.max(payment.expiresAt.getTime() - view.nowMs, 0);
  return (
    <div className="time-left no-print">
      <span className="ring">
        <Ring leftMs={leftMs} wholeMs={payment.expiresAt.getTime() - payment.createdAt.getTime()} />
        <strong className={leftMs < MINUTES_OF_HOURS * 60_000 ? undefined : 'long'}>
          <Countdown leftMs={leftMs} />
        </strong>
      </span>
      <p>
        <b>{statuses[payment.status]}</b>
        <br />
        {qr.until} <Time at={payment.expiresAt} style="time" locale={view.locale} />
      </p>
    </div>
  );
}

/** Runs empty until the end. The browser moves it: no script is needed. */
function Ring({ leftMs, wholeMs }: { readonly leftMs: number; readonly wholeMs: number }): ReactElement {
  const gone = Math.round(100 - (100 * leftMs) / Math.max(wholeMs, leftMs, 1));
  return (
    <svg viewBox="0 0 64 64" aria-hidden="true">
      <circle cx="32" cy="32" r="29" />
      <circle cx="32" cy="32" r="29" pathLength="100" strokeDasharray="100" strokeDashoffset={gone}>
        <animate
          attributeName="stroke-dashoffset"
          from={gone}
          to="100"
          dur={`${Math.ceil(leftMs / 1_000)}s`}
          fill="freeze"
        />
      </circle>
    </svg>
  );
}
