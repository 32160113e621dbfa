import { findCheckout } from '../../../db/payments/find-checkout';
import { checkoutStateOf, isLastPage, payablePayload } from '../../checkout/checkout-state';
import { statusKeyOf } from '../../checkout/checkout-watch';
import { PAGE_HEADERS } from '../../page/headers';
import { PageError } from '../../page/page-error';
import { memberPage, NO_FIELDS } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse } from '../merchant-view';
import { findOwnPayment } from './find-own-payment';
import { fromField } from './from-counter';
import { ownDay, sumOwnDay } from './own-day';
import { actionRejection } from './payment-action-pages';
import { qrImagePath, qrPath } from './payment-paths';
import { renderQrPage } from './qr-page';
import { isPaid } from './shown-code';

const MANAGE = { area: 'payments', level: 'manage' } as const;

/** The page that a cashier shows to a customer. */
export const showQr = memberPage(MANAGE, {
  method: 'get',
  path: qrPath.pattern,
  fields: fromField,
  async handler(dependencies: Pick<DashboardDependencies, 'db' | 'environment' | 'checkoutLinks'>, visit, query) {
    const view = merchantView(dependencies, visit);
    const payment = await findOwnPayment(dependencies, visit);
    const checkout = await findCheckout(dependencies.db, payment.id);
    if (!checkout) throw new PageError('not_found', 'the payment was archived meanwhile');
    const { status, expiresAt, referenceId, totalRupiah, merchantName } = checkout;
    const { createdAt, paidAt, merchantReferenceId } = payment;
    return pageResponse(
      renderQrPage({
        view,
        payment: { status, createdAt, expiresAt, paidAt, referenceId, totalRupiah, merchantName, merchantReferenceId },
        state: checkoutStateOf(checkout, view.nowMs),
        payload: payablePayload(checkout, view.nowMs),
        dayTotal: isPaid(status) ? await sumOwnDay(dependencies, ownDay(visit)) : null,
        isAtCounter: query.ok && query.values.from === 'counter',
        statusKey: statusKeyOf(checkout),
        isLive: !isLastPage(checkout),
        checkoutUrl: await dependencies.checkoutLinks.urlOf(payment),
        cancelRejection: actionRejection({ view, visit }, 'cancel', payment),
      }),
    );
  },
});

/** The QR with merchant, amount and deadline. There is none after the end. */
export const getQrImage = memberPage(MANAGE, {
  method: 'get',
  path: qrImagePath.pattern,
  fields: NO_FIELDS,
  async handler(dependencies: Pick<DashboardDependencies, 'db' | 'checkoutPages'>, visit) {
    const { id, referenceId } = await findOwnPayment(dependencies, visit);
    const checkout = await findCheckout(dependencies.db, id);
    const payload = checkout && payablePayload(checkout, visit.now.getTime());
    if (!payload) throw new PageError('not_found', 'there is no code that can be paid');
    const headers = {
      ...PAGE_HEADERS,
      'Content-Type': 'image/png',
      'Content-Disposition': `attachment; filename="qris-${referenceId}.png"`,
    };
    return { status: 200, headers, body: await dependencies.checkoutPages.code(payload, checkout, visit.language) };
  },
});
