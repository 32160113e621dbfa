import { createHash, timingSafeEqual } from 'node:crypto';
import type { ProviderPaymentStatus } from '../../domain/provider-status';
import { parseJson } from '../../lib/parse-json';
import type { NotificationVerification, ReceivedNotification } from '../provider';
import { notificationSchema } from './schemas';

const MAX_NOTIFICATION_BYTES = 64 * 1024;

/** The order was created. The signature covers the code, so no other notification can be forged into this one. */
const PENDING = '201';

/** Midtrans' statuses. A refund is reported when Midtrans accepts it, and again when the bank has confirmed it. */
const REPORTED_STATUSES: ReadonlyMap<string, ProviderPaymentStatus> = new Map(
  Object.entries({
    settlement: 'paid',
    expire: 'expired',
    cancel: 'cancelled',
    deny: 'denied',
    refund: 'refunded',
    partial_refund: 'refunded',
  } satisfies Record<string, ProviderPaymentStatus>),
);

/**
 * `signature_key` = SHA-512 of order id, code, amount and server key, hex (docs: "HTTP notification"). It covers
 * neither the time nor `transaction_status`, so the notification only triggers a status query.
 */
export function verifyNotification({ rawBody }: ReceivedNotification, serverKey: string): NotificationVerification {
  if (rawBody.length > MAX_NOTIFICATION_BYTES) return { outcome: 'malformed' };
  const parsed = notificationSchema.safeParse(parseJson(rawBody.toString('utf8')));
  if (!parsed.success) return { outcome: 'malformed' };
  const { order_id, status_code, gross_amount, signature_key, ...details } = parsed.data;
  const expected = createHash('sha512')
    .update(order_id + status_code + gross_amount + serverKey)
    .digest();
  if (!timingSafeEqual(expected, Buffer.from(signature_key, 'hex'))) return { outcome: 'invalid_signature' };
  const transaction_status = details.transaction_status?.toLowerCase() ?? '';
  const reportedStatus = status_code === PENDING ? 'pending' : (REPORTED_STATUSES.get(transaction_status) ?? null);
  const { transaction_id, refunds } = details;
  const dedupeKey = JSON.stringify([order_id, status_code, transaction_status, transaction_id, refunds]);
  const signed = JSON.stringify([order_id, status_code, gross_amount]);
  return { outcome: 'verified', referenceId: order_id, reportedStatus, dedupeKey, signed };
}
