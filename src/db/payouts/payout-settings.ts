import { randomUUID } from 'node:crypto';
import type { PayoutSchedule, PayoutSettings, ProposedSettings, Weekday } from '../../domain/payout-schedule';
import type { Queryable } from '../connection/pool';
import { userNameSql } from '../identity/users';

/** Undefined: the merchant has set none. */
export async function findPayoutSettings(db: Queryable, merchantId: string): Promise<PayoutSettings | undefined> {
  const { rows } = await db.query<PayoutSettings>({
    name: 'find_payout_settings',
    text: `select schedule, weekday, minimum_rupiah as "minimumRupiah" from payout_settings where merchant_id = $1`,
    values: [merchantId],
  });
  return rows[0];
}

const REPLACE = `on conflict (merchant_id) do update set schedule = excluded.schedule, weekday = excluded.weekday,
  minimum_rupiah = excluded.minimum_rupiah, changed_by = excluded.changed_by, approved_by = excluded.approved_by,
  changed_at = excluded.changed_at`;

interface ChangedSettings {
  readonly schedule: PayoutSchedule;
  /** Null unless the schedule is weekly. */
  readonly weekday: Weekday | null;
  readonly minimumRupiah: number;
  readonly merchantId: string;
  readonly changedBy: string;
  readonly changedAt: Date;
}

/** Saves them, and ends a proposal that waits. */
export async function savePayoutSettings(
  db: Queryable,
  { merchantId, schedule, weekday, minimumRupiah, changedBy, changedAt }: ChangedSettings,
): Promise<void> {
  await db.query({
    name: 'save_payout_settings',
    text: `with ended as (delete from proposed_payout_settings where merchant_id = $1)
      insert into payout_settings (merchant_id, schedule, weekday, minimum_rupiah, changed_by, changed_at)
      values ($1, $2, $3, $4, $5, $6) ${REPLACE}`,
    values: [merchantId, schedule, weekday, minimumRupiah, changedBy, changedAt],
  });
}

/** Undefined: none waits. */
export async function findProposedSettings(db: Queryable, merchantId: string): Promise<ProposedSettings | undefined> {
  const { rows } = await db.query<ProposedSettings>({
    name: 'find_proposed_payout_settings',
    text: `select id, schedule, weekday, minimum_rupiah as "minimumRupiah", proposed_by as "proposedBy",
        ${userNameSql('proposed_by')} as "proposerName", proposed_at as "proposedAt"
      from proposed_payout_settings where merchant_id = $1`,
    values: [merchantId],
  });
  return rows[0];
}

/** Replaces a proposal that waits. */
export async function proposePayoutSettings(
  db: Queryable,
  { merchantId, schedule, weekday, minimumRupiah, changedBy, changedAt }: ChangedSettings,
): Promise<void> {
  await db.query({
    name: 'propose_payout_settings',
    text: `insert into proposed_payout_settings
        (id, merchant_id, schedule, weekday, minimum_rupiah, proposed_by, proposed_at)
      values ($1, $2, $3, $4, $5, $6, $7)
      on conflict (merchant_id) do update set id = excluded.id, schedule = excluded.schedule,
        weekday = excluded.weekday, minimum_rupiah = excluded.minimum_rupiah, proposed_by = excluded.proposed_by,
        proposed_at = excluded.proposed_at`,
    values: [randomUUID(), merchantId, schedule, weekday, minimumRupiah, changedBy, changedAt],
  });
}

interface SeenProposal {
  readonly merchantId: string;
  readonly id: string;
}

/** Saves what was proposed. @returns false if this proposal does not wait any more */
export async function saveProposedSettings(
  db: Queryable,
  { merchantId, id, approvedBy, now }: SeenProposal & { readonly approvedBy: string; readonly now: Date },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'save_proposed_payout_settings',
    text: `with proposed as (delete from proposed_payout_settings where merchant_id = $1 and id = $2 returning *)
      insert into payout_settings
        (merchant_id, schedule, weekday, minimum_rupiah, changed_by, approved_by, changed_at)
      select merchant_id, schedule, weekday, minimum_rupiah, proposed_by, $3, $4 from proposed ${REPLACE}`,
    values: [merchantId, id, approvedBy, now],
  });
  return rowCount === 1;
}

/** @returns false if this proposal does not wait any more */
export async function deleteProposedSettings(db: Queryable, { merchantId, id }: SeenProposal): Promise<boolean> {
  const { rowCount } = await db.query('delete from proposed_payout_settings where merchant_id = $1 and id = $2', [
    merchantId,
    id,
  ]);
  return rowCount === 1;
}
