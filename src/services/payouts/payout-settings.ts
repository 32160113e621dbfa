import type { Queryable } from '../../db/connection/pool';
import { findAuthority } from '../../db/records/members';
import { findPayoutSettings, savePayoutSettings } from '../../db/records/payout-settings';
import { actorText } from '../../domain/actor';
import { DEFAULT_PAYOUT_SETTINGS, type PayoutSettings } from '../../domain/payout-schedule';
import { ConflictError } from '../../errors';
import type { PayoutUser } from './payouts';

/** When the balance of a merchant is paid out without a request. */
export async function getPayoutSettings(db: Queryable, merchantId: string): Promise<PayoutSettings> {
  return (await findPayoutSettings(db, merchantId)) ?? DEFAULT_PAYOUT_SETTINGS;
}

/**
 * A member with the right to authorise changes it: no other one approves the payouts of a schedule.
 * @throws ConflictError `member_too_new`
 */
export async function setPayoutSettings(
  db: Queryable,
  user: PayoutUser,
  settings: PayoutSettings,
  now: Date,
): Promise<void> {
  if (!(await findAuthority(db, user, null)).isAuthorised) {
    throw new ConflictError('member_too_new', 'A member of less than a day cannot change automatic payouts.');
  }
  const { merchantId, userId } = user;
  const changedBy = actorText({ kind: 'merchant_user', id: userId });
  await savePayoutSettings(db, { ...settings, merchantId, changedBy, changedAt: now });
}
