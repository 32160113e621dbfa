import { z } from 'zod';
import { MAX_TOTAL_RUPIAH } from '../../domain/money';
import type { PaymentStatus } from '../../domain/payment-transitions';
import { PROVIDERS, type ProviderName } from '../../domain/provider-capabilities';
import type { Queryable } from '../connection/pool';
import { onlyRow } from '../connection/require-row';
import { PAYMENT_COLUMNS, type PaymentRow } from './payment-row';

/* The payments that a user has created in the dashboard, by the log of what users do. */

/** A sum of a day has at most so many payments. */
const MAX_CREATIONS = 5_000;

export interface Creator {
  readonly merchantId: string;
  readonly userId: string;
}

interface OwnPayments extends Creator {
  readonly since: Date;
}

/** $1: the merchant, $2: the user. The newest first. */
export const OWN_CREATIONS = `
  from user_actions where user_id = $2 and merchant_id = $1 and action = 'payment.create'`;

/** The ids of the newest payments since $3. A form that is sent twice has two rows, and one payment. */
const newestSince = (limit: string) => `
  select distinct target::uuid as id from (
    select target ${OWN_CREATIONS} and requested_at >= $3 order by requested_at desc limit ${limit}
  ) newest`;

/** The newest first. */
export async function listOwnPayments(
  db: Queryable,
  { merchantId, userId, since }: OwnPayments,
  limit: number,
): Promise<PaymentRow[]> {
  const { rows } = await db.query<PaymentRow>({
    name: 'list_own_payments',
    text: `
      select ${PAYMENT_COLUMNS}
      from (${newestSince('$4')}) creation
        join payments on payments.id = creation.id and payments.merchant_id = $1
      order by payments.created_at desc, payments.id desc`,
    values: [merchantId, userId, since, limit],
  });
  return rows;
}

interface OwnSum {
  readonly payments: number;
  readonly totalRupiah: number;
}

/** How many of the payments have one of the statuses, and their sum. */
export async function sumOwnPayments(
  db: Queryable,
  { merchantId, userId, since }: OwnPayments,
  statuses: readonly PaymentStatus[],
): Promise<OwnSum> {
  const { rows } = await db.query<OwnSum>({
    name: 'sum_own_payments',
    text: `
      select count(*)::integer as payments, coalesce(sum(total_rupiah), 0)::bigint as "totalRupiah"
      from (${newestSince(String(MAX_CREATIONS))}) creation
        join payments on payments.id = creation.id and payments.merchant_id = $1
      where status = any($4)`,
    values: [merchantId, userId, since, statuses],
  });
  return rows[0] ?? { payments: 0, totalRupiah: 0 };
}

/** The usual amounts are those of so many of the newest payments. */
const USUAL_OF = 200;

const habitsSchema = z.object({ amounts: z.array(z.number()), provider: z.enum(PROVIDERS).nullable() });

/** What a user usually enters. */
export interface CreationHabits {
  /** The most frequent amounts, the smallest first: a button stays where it is. */
  readonly amounts: readonly number[];
  /** The newest payment has it; null: there is none. */
  readonly provider: ProviderName | null;
}

/** From the log alone, which has both: the payments themselves would be four buffers each. */
export async function findCreationHabits(
  db: Queryable,
  { merchantId, userId }: Creator,
  limit: number,
): Promise<CreationHabits> {
  const { rows } = await db.query({
    name: 'find_creation_habits',
    text: `
      with newest as materialized (
        select substring(detail from '"amount":(\\d{1,8})')::bigint as amount,
          substring(detail from '"provider":"(\\w+)"') as provider, requested_at
        ${OWN_CREATIONS} order by requested_at desc limit ${USUAL_OF}
      ), usual as (
        select amount from newest where amount between 1 and ${MAX_TOTAL_RUPIAH}
        group by amount order by count(*) desc, max(requested_at) desc limit $3
      )
      select coalesce((select json_agg(amount order by amount) from usual), '[]') as amounts,
        (select provider from newest where provider = any($4) order by requested_at desc limit 1) as provider`,
    values: [merchantId, userId, limit, PROVIDERS],
  });
  return habitsSchema.parse(onlyRow(rows));
}
