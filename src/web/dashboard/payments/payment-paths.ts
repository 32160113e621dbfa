import { z } from 'zod';
import { parsePathId } from '../../../services/payments/path-id';
import { merchantCode, pagePath } from '../../page/page-path';

const ofMerchant = { code: merchantCode };
const ofPayment = { code: merchantCode, ref: z.string().refine((text) => parsePathId(text) !== undefined) };

export const paymentsPath = pagePath('/m/:code/payments', ofMerchant);
export const exportPaymentsPath = pagePath('/m/:code/payments.csv', ofMerchant);
export const newPaymentPath = pagePath('/m/:code/payments/new', ofMerchant);
export const paymentPagePath = pagePath('/m/:code/payments/:ref', ofPayment);
export const paymentEventsPath = pagePath('/m/:code/payments/:ref/events', ofPayment);
export const qrPath = pagePath('/m/:code/payments/:ref/qr', ofPayment);
export const qrImagePath = pagePath('/m/:code/payments/:ref/qris.png', ofPayment);
export const slipPath = pagePath('/m/:code/payments/:ref/slip', ofPayment);
export const customerPath = pagePath('/m/:code/payments/:ref/customer', ofPayment);

/** What a member can do with a payment, each at a path of its own. */
export const PAYMENT_ACTION_PATHS = {
  refund: pagePath('/m/:code/payments/:ref/refund', ofPayment),
  cancel: pagePath('/m/:code/payments/:ref/cancel', ofPayment),
  refundCancel: pagePath('/m/:code/payments/:ref/refund/cancel', ofPayment),
} as const;
