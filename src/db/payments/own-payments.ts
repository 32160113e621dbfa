import type { PaymentStatus } from '../../domain/payment-transitions';
import type { Queryable } from '../connection/pool';
import { PAYMENT_COLUMNS, type PaymentRow } from './payment-row';

/** A user who did more than this since then sees the payments among the newest of it. */
const MAX_ACTIONS = 500;

interface OwnPayments {
  readonly merchantId: string;
  readonly userId: string;
  readonly since: Date;
}

const CREATIONS = `
  select target from (
    select * from user_actions where user_id = $2 order by id desc limit ${MAX_ACTIONS}
  ) newest
  where merchant_id = $1 and action = 'payment.create' and requested_at >= $3`;

/** The payments that a user has created in the dashboard, the newest first. */
export async function listOwnPayments(
  db: Queryable,
  { merchantId, userId, since }: OwnPayments,
  limit: number,
): Promise<PaymentRow[]> {
  const { rows } = await db.query<PaymentRow>({
    name: 'list_own_payments',
    text: `
      select ${PAYMENT_COLUMNS}
      from (${CREATIONS} order by id desc limit $4) creation
        join payments on payments.id = creation.target::uuid and payments.merchant_id = $1
      order by payments.created_at desc, payments.id desc`,
    values: [merchantId, userId, since, limit],
  });
  return rows;
}

interface OwnSum {
  readonly payments: number;
  readonly totalRupiah: number;
}

/** How many of the payments that a user has created in the dashboard have one of the statuses, and their sum. */
export async function sumOwnPayments(
  db: Queryable,
  { merchantId, userId, since }: OwnPayments,
  statuses: readonly PaymentStatus[],
): Promise<OwnSum> {
  const { rows } = await db.query<OwnSum>({
    name: 'sum_own_payments',
    text: `
      select count(*)::integer as payments, coalesce(sum(total_rupiah), 0)::bigint as "totalRupiah"
      from (${CREATIONS}) creation
        join payments on payments.id = creation.target::uuid and payments.merchant_id = $1
      where status = any($4)`,
    values: [merchantId, userId, since, statuses],
  });
  return rows[0] ?? { payments: 0, totalRupiah: 0 };
}
