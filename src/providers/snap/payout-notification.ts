import { createHash, timingSafeEqual } from 'node:crypto';
import type { BankPayoutStatus } from '../../domain/bank-payout';
import { hex, soleValue } from '../../lib/fields';
import { parseJson } from '../../lib/parse-json';
import { verifyBody } from '../../snap/signatures';
import type { PayoutNotificationVerification } from '../payout-provider';
import type { ReceivedNotification } from '../provider';
import type { NotificationKeys } from './payout-credentials';
import type { PayoutProfile } from './payout-profiles';
import { irisNotificationSchema, snapNotificationSchema } from './schemas';

const MAX_NOTIFICATION_BYTES = 64 * 1024;

/** The statuses of Iris. A payout that came back is reported as failed. */
const IRIS_STATUSES: ReadonlyMap<string, BankPayoutStatus> = new Map(
  Object.entries({
    queued: 'pending',
    approved: 'pending',
    processed: 'pending',
    completed: 'completed',
    failed: 'failed',
    rejected: 'failed',
  } satisfies Record<string, BankPayoutStatus>),
);

export interface NotificationVerifier {
  readonly profile: PayoutProfile;
  readonly keys: NotificationKeys;
  /** The address that the bank notifies: it signs its path. */
  readonly notificationUrl: string;
}

/** Without the key that it needs, no notification is genuine. */
export function verifyPayoutNotification(
  notification: ReceivedNotification,
  verifier: NotificationVerifier,
): PayoutNotificationVerification {
  if (notification.rawBody.length > MAX_NOTIFICATION_BYTES) return { outcome: 'malformed' };
  return verifier.profile.notifications === 'iris'
    ? verifyIris(notification, verifier.keys)
    : verifySnap(notification, verifier);
}

/** SHA-512. */
const IRIS_SIGNATURE = hex(128);

/** `Iris-Signature`: SHA-512 of the raw body and the merchant key, in hex (Midtrans, "Payout notification"). */
function verifyIris(
  { rawBody, headers }: ReceivedNotification,
  { merchantKey }: NotificationKeys,
): PayoutNotificationVerification {
  const signature = IRIS_SIGNATURE.safeParse(soleValue(headers['iris-signature']));
  if (merchantKey === undefined || !signature.success) return { outcome: 'invalid_signature' };
  const expected = createHash('sha512').update(rawBody).update(merchantKey).digest();
  if (!timingSafeEqual(Buffer.from(signature.data, 'hex'), expected)) return { outcome: 'invalid_signature' };
  const parsed = irisNotificationSchema.safeParse(parseJson(rawBody.toString('utf8')));
  if (!parsed.success) return { outcome: 'malformed' };
  const { partner_reference_no: referenceId, reference_no, error_code } = parsed.data;
  const status = parsed.data.status?.toLowerCase() ?? '';
  const dedupeKey = JSON.stringify([referenceId, reference_no, status, error_code]);
  return { outcome: 'verified', referenceId, reportedStatus: IRIS_STATUSES.get(status) ?? null, dedupeKey };
}

/** Verifies a notification of SNAP: RSA over path, body and time. The time may be old, because the bank repeats it. */
function verifySnap(
  { rawBody, headers }: ReceivedNotification,
  { profile, keys, notificationUrl }: NotificationVerifier,
): PayoutNotificationVerification {
  const signature = soleValue(headers['x-signature']);
  const timestamp = soleValue(headers['x-timestamp']);
  if (signature === undefined || timestamp === undefined) return { outcome: 'invalid_signature' };
  const { acquirerPublicKeys = [] } = keys;
  const path = new URL(notificationUrl).pathname;
  const isGenuine = verifyBody(acquirerPublicKeys, { method: 'POST', path, timestamp, signature, bytes: rawBody });
  if (!isGenuine) return { outcome: 'invalid_signature' };
  const parsed = snapNotificationSchema.safeParse(parseJson(rawBody.toString('utf8')));
  if (!parsed.success) return { outcome: 'malformed' };
  const { originalPartnerReferenceNo: referenceId, originalReferenceNo, latestTransactionStatus } = parsed.data;
  const status = profile.statuses[latestTransactionStatus ?? ''] ?? 'not_found';
  const dedupeKey = JSON.stringify([referenceId, originalReferenceNo, latestTransactionStatus]);
  return { outcome: 'verified', referenceId, reportedStatus: status === 'not_found' ? null : status, dedupeKey };
}
