import type { Queryable } from '../../db/connection/pool';
import { findPayoutSettings } from '../../db/payouts/payout-settings';
import type { Person } from '../../domain/actor';
import { DEFAULT_PAYOUT_SETTINGS, type PayoutSettings } from '../../domain/payout-schedule';
import { NotFoundError } from '../../errors';
import type { PayoutUser } from './payouts';

/** When the balance of a merchant is paid out without a request. */
export async function getPayoutSettings(db: Queryable, merchantId: string): Promise<PayoutSettings> {
  return (await findPayoutSettings(db, merchantId)) ?? DEFAULT_PAYOUT_SETTINGS;
}

/** The member whose merchant has the settings. @throws NotFoundError for an operator: only members have their own */
export function payoutUserOf(by: Person): PayoutUser {
  if (by.kind !== 'merchant_user') throw new NotFoundError('merchant', 'of an operator');
  return { userId: by.id, merchantId: by.merchantId };
}
