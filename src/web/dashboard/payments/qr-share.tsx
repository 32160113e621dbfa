import type { ReactElement } from 'react';
import { formatRupiah } from '../../../domain/money';
import { ActionIcon } from '../../ui/action-icon';
import { OfferedActionButton } from '../../ui/offered-action';
import { Time } from '../../ui/values';
import { PAYMENT_ACTION_PATHS, qrImagePath } from './payment-paths';
import { PAYMENT_TEXTS } from './payment-texts';
import type { SharedCode } from './shown-code';

/** What the cashier does with the code. Its end comes first: after it, the link shows no code. */
export function QrShare({ view, payment, checkoutUrl, cancelRejection }: SharedCode): ReactElement {
  const { texts, locale } = view;
  const { qr } = texts;
  const own = PAYMENT_TEXTS[locale.language];
  const message = qr.whatsappText(formatRupiah(payment.totalRupiah), checkoutUrl);
  const minutes = Math.round((payment.expiresAt.getTime() - payment.createdAt.getTime()) / 60_000);
  return (
    <section className="card qr-share no-print">
      <header>
        <h2>{qr.link}</h2>
      </header>
      <div className="card-body">
        <p>
          {qr.linkWorks} <Time at={payment.expiresAt} style="time" locale={locale} />{' '}
          {minutes < 120 ? own.minutes(minutes) : own.hours(Math.round(minutes / 60))}
        </p>
        <div className="icon-row">
          <button type="button" className="button" data-copy={checkoutUrl} data-copied={qr.copied} hidden>
            <ActionIcon name="copy" />
            <span>{qr.copyLink}</span>
          </button>
          <a
            className="button"
            href={`https://wa.me/?text=${encodeURIComponent(message)}`}
            rel="noreferrer"
            target="_blank"
          >
            <ActionIcon name="send" />
            {qr.whatsapp}
          </a>
          <a className="button" href={qrImagePath.to({ ...view, ref: payment.referenceId })} download>
            <ActionIcon name="save" />
            {qr.image}
          </a>
          <button type="button" className="button" data-print="" hidden>
            <ActionIcon name="print" />
            {qr.print}
          </button>
        </div>
        <OfferedActionButton
          label={texts.detail.cancel}
          href={PAYMENT_ACTION_PATHS.cancel.to({ ...view, ref: payment.referenceId })}
          rejection={cancelRejection}
          tone="danger"
        />
      </div>
    </section>
  );
}
