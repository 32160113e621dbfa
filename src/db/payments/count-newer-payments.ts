import type { PaymentStatus } from '../../domain/payment-transitions';
import type { ProviderName } from '../../domain/provider-capabilities';
import type { Queryable } from '../connection/pool';
import { onlyRow } from '../connection/require-row';
import type { ListPosition } from './list-payments';

export interface NewerPaymentFilter {
  readonly merchantId: string;
  readonly than: ListPosition;
  /** Null: every status. */
  readonly statuses: readonly PaymentStatus[] | null;
  readonly provider: ProviderName | undefined;
  readonly totalRupiah: number | undefined;
  /** Inclusive; null: not limited. */
  readonly createdTo: Date | null;
}

/** With a filter of provider or amount, so many payments above the position are compared. */
const MAX_SEARCHED = 500;

/**
 * How many payments are newer than the position, at most `limit`. Statuses have an index with the merchant, whose order
 * is not needed. The statement has no name: its conditions depend on the filter.
 */
export async function countNewerPayments(db: Queryable, filter: NewerPaymentFilter, limit: number): Promise<number> {
  const { merchantId, than, statuses, provider, totalRupiah, createdTo } = filter;
  const values: unknown[] = [merchantId, than.createdAt, than.id, limit];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const range = ['merchant_id = $1', '(created_at, id) > ($2, $3)'];
  if (createdTo) range.push(`created_at <= ${bind(createdTo)}`);
  const criteria = ['true'];
  if (statuses) criteria.push(`status = any(${bind(statuses)})`);
  if (provider) criteria.push(`provider = ${bind(provider)}`);
  if (totalRupiah !== undefined) criteria.push(`total_rupiah = ${bind(totalRupiah)}`);
  const isSearch = provider !== undefined || totalRupiah !== undefined;
  const nearest = isSearch ? `order by created_at, id limit ${MAX_SEARCHED}` : '';
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::integer as count from (
       select from (
         select status, provider, total_rupiah from payments where ${range.join(' and ')} ${nearest}
       ) nearest
       where ${criteria.join(' and ')} limit $4
     ) newer`,
    values,
  );
  return onlyRow(rows).count;
}
