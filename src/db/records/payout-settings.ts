import type { PayoutSettings } from '../../domain/payout-schedule';
import type { Queryable } from '../connection/pool';

/** Undefined: the merchant has set none. */
export async function findPayoutSettings(db: Queryable, merchantId: string): Promise<PayoutSettings | undefined> {
  const { rows } = await db.query<PayoutSettings>({
    name: 'find_payout_settings',
    text: `select schedule, weekday, minimum_rupiah as "minimumRupiah" from payout_settings where merchant_id = $1`,
    values: [merchantId],
  });
  return rows[0];
}

type ChangedSettings = PayoutSettings & {
  readonly merchantId: string;
  readonly changedBy: string;
  readonly changedAt: Date;
};

export async function savePayoutSettings(
  db: Queryable,
  { merchantId, schedule, weekday, minimumRupiah, changedBy, changedAt }: ChangedSettings,
): Promise<void> {
  await db.query({
    name: 'save_payout_settings',
    text: `insert into payout_settings (merchant_id, schedule, weekday, minimum_rupiah, changed_by, changed_at)
      values ($1, $2, $3, $4, $5, $6)
      on conflict (merchant_id) do update set schedule = excluded.schedule, weekday = excluded.weekday,
        minimum_rupiah = excluded.minimum_rupiah, changed_by = excluded.changed_by, changed_at = excluded.changed_at`,
    values: [merchantId, schedule, weekday, minimumRupiah, changedBy, changedAt],
  });
}
