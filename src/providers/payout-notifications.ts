import type { Sealer } from '../crypto/sealing';
import type { Queryable } from '../db/connection/pool';
import type { PayoutNotifications } from './payout-provider';
import { parseNotificationKeys } from './snap/payout-credentials';
import { verifyPayoutNotification } from './snap/payout-notification';
import { PAYOUT_PROFILES, PROFILE_OF_ADAPTER, type PayoutAdapter } from './snap/payout-profiles';

interface AccountRow {
  readonly adapter: PayoutAdapter;
  readonly baseUrl: string;
  readonly sealedKeys: string;
}

export interface PayoutNotificationSettings {
  readonly db: Queryable;
  readonly sealer: Sealer;
  /** The address of our API: the bank signs the path that it notifies. */
  readonly publicBaseUrl: string;
}

/**
 * What verifies the notifications of a payouts account, also of a disabled one. The API has no right to read what calls
 * the bank.
 * @returns undefined if there is no such account
 */
export async function findPayoutNotifications(
  { db, sealer, publicBaseUrl }: PayoutNotificationSettings,
  accountId: string,
): Promise<PayoutNotifications | undefined> {
  const { rows } = await db.query<AccountRow>({
    name: 'read_notification_keys',
    text: `select adapter, base_url as "baseUrl", sealed_server_key as "sealedKeys" from provider_accounts
      where purpose = 'payouts' and status <> 'proposed' and id = $1`,
    values: [accountId],
  });
  const row = rows[0];
  if (!row) return undefined;
  const { adapter, baseUrl, sealedKeys } = row;
  const keys = parseNotificationKeys(sealer.open(sealedKeys, ['provider-server-key', accountId, adapter, baseUrl]));
  const profile = PAYOUT_PROFILES[PROFILE_OF_ADAPTER[adapter]];
  const notificationUrl = `${publicBaseUrl}/provider-notifications/${accountId}`;
  return {
    verifyPayoutNotification: (notification) =>
      verifyPayoutNotification(notification, { profile, keys, notificationUrl }),
  };
}
