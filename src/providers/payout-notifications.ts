import type { Sealer } from '../crypto/sealing';
import type { Queryable } from '../db/connection/pool';
import { payoutAdapterOf } from './adapters';
import type { PayoutNotifications } from './payout-provider';

interface AccountRow {
  readonly adapter: string;
  readonly baseUrl: string;
  readonly sealedKeys: string;
}

export interface PayoutNotificationSettings {
  readonly db: Queryable;
  readonly sealer: Sealer;
}

/**
 * What verifies the notifications of a payouts account, also of a disabled one. The API has no right to read what calls
 * the bank.
 * @param notificationUrl to which the bank sent them: it signs the path
 * @returns undefined if there is no such account
 */
export async function findPayoutNotifications(
  { db, sealer }: PayoutNotificationSettings,
  accountId: string,
  notificationUrl: string,
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
  const keys = sealer.open(sealedKeys, ['provider-server-key', accountId, adapter, baseUrl]);
  return payoutAdapterOf({ id: accountId, adapter }).notifications(keys, notificationUrl);
}
