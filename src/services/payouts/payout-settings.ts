import type { Queryable } from '../../db/connection/pool';
import { findPayoutSettings, savePayoutSettings } from '../../db/records/payout-settings';
import { actorText } from '../../domain/actor';
import { DEFAULT_PAYOUT_SETTINGS, type PayoutSettings } from '../../domain/payout-schedule';
import type { PayoutUser } from './payouts';

/** When the balance of a merchant is paid out without a request. */
export async function getPayoutSettings(db: Queryable, merchantId: string): Promise<PayoutSettings> {
  return (await findPayoutSettings(db, merchantId)) ?? DEFAULT_PAYOUT_SETTINGS;
}

/** A member with the right to authorise changes it. */
export async function setPayoutSettings(
  db: Queryable,
  { merchantId, userId }: PayoutUser,
  settings: PayoutSettings,
  now: Date,
): Promise<void> {
  const changedBy = actorText({ kind: 'merchant_user', id: userId });
  await savePayoutSettings(db, { ...settings, merchantId, changedBy, changedAt: now });
}
