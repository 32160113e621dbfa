import { findCheckout } from '../../../db/payments/find-checkout';
import { sumOwnPayments } from '../../../db/payments/own-payments';
import { checkoutStateOf, isLastPage, payablePayload } from '../../checkout/checkout-state';
import { statusKeyOf } from '../../checkout/checkout-watch';
import { PAGE_HEADERS } from '../../page/headers';
import { PageError } from '../../page/page-error';
import { memberPage, NO_FIELDS, type MemberVisit } from '../../page/page-route';
import { dayOf, startOfDay } from '../../ui/format';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse } from '../merchant-view';
import { findOwnPayment } from './find-own-payment';
import { PAYMENT_GROUPS } from './payment-groups';
import { qrImagePath, qrPath } from './payment-paths';
import { actionRejection, stateOfPayment } from './payment-state';
import { renderQrPage } from './qr-page';
import { isPaid } from './shown-code';

const MANAGE = { area: 'payments', level: 'manage' } as const;

/** The page that a cashier shows to a customer. */
export const showQr = memberPage(MANAGE, {
  method: 'get',
  path: qrPath.pattern,
  fields: NO_FIELDS,
  async handler(dependencies: Pick<DashboardDependencies, 'db' | 'environment' | 'checkoutLinks'>, visit) {
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
        dayTotal: isPaid(status) ? await dayTotalOf(dependencies, visit) : null,
        statusKey: statusKeyOf(checkout),
        isLive: !isLastPage(checkout),
        checkoutUrl: await dependencies.checkoutLinks.urlOf(payment),
        cancelRejection: actionRejection(view, 'cancel', payment, stateOfPayment(payment, { refunds: [] })),
      }),
    );
  },
});

/** What the user has taken today. */
async function dayTotalOf({ db }: Pick<DashboardDependencies, 'db'>, { session, member, now }: MemberVisit) {
  const since = startOfDay(dayOf(now, member.timeZone), member.timeZone);
  const own = { merchantId: member.merchantId, userId: session.user.id, since };
  const sum = await sumOwnPayments(db, own, PAYMENT_GROUPS.paid);
  return sum.payments === 0 ? null : sum;
}

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
