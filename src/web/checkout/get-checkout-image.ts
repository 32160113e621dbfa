import { renderLabelledQrisPng } from '../../qris/image';
import { payablePayload } from './checkout-state';
import { formatDeadline, formatRupiah, TEXTS } from './texts';
import { ApiError } from '../../http/api-error';
import { publicEndpoint } from '../../http/endpoint';
import type { CheckoutDependencies } from './checkout-dependencies';
import { checkoutHeaders } from './checkout-headers';
import { findCheckoutPage, languageOf } from './find-checkout-page';

/** The QR with merchant, amount and deadline, for the gallery of a phone. There is none after the end. */
export const getCheckoutImage = publicEndpoint({
  method: 'get',
  path: '/pay/:token/qris.png',
  hasBudget: true,
  async handler(dependencies: Pick<CheckoutDependencies, 'checkoutLinks' | 'publicDb'>, request) {
    const payment = await findCheckoutPage(dependencies, request);
    const payload = payment && payablePayload(payment, Date.now());
    if (!payload) throw new ApiError('not_found', 'There is no QR code that can be paid.');
    const language = languageOf(request);
    const { payBefore } = TEXTS[language];
    const body = await renderLabelledQrisPng(payload, [
      { text: payment.merchantName, scale: 3 },
      { text: formatRupiah(payment.totalRupiah), scale: 5 },
      { text: `${payBefore} ${formatDeadline(payment.expiresAt, language)}`, scale: 2 },
      { text: payment.referenceId, scale: 2 },
    ]);
    const disposition = `attachment; filename="qris-${payment.referenceId}.png"`;
    const headers = { ...checkoutHeaders([]), 'Content-Type': 'image/png', 'Content-Disposition': disposition };
    return { status: 200, headers, body };
  },
});
