import type { PaymentStatus } from '../../domain/payment-transitions';
import type { ProviderName } from '../../domain/provider-capabilities';
import type { Queryable } from '../connection/pool';
import type { ListPosition } from './list-payments';
import { PAYMENT_COLUMNS, type PaymentRow } from './payment-row';

/** A page of a merchant's payments. */
export interface PaymentPageFilter {
  readonly merchantId: string;
  /** Null: every status. */
  readonly statuses: readonly PaymentStatus[] | null;
  /** Only of this provider. Not together with `statuses`: no index has both. */
  readonly provider?: ProviderName | undefined;
  /** Inclusive, as is `createdTo`; null: not limited. */
  readonly createdFrom: Date | null;
  readonly createdTo: Date | null;
  /** Where the page begins; null: with the newest payment. */
  readonly start: PageStart | null;
}

export interface PageStart {
  readonly direction: 'older' | 'newer';
  /** Exclusive. */
  readonly than: ListPosition;
}

/** At most `limit` payments, in the order of the direction: those nearest to the start first. */
export async function listPaymentPage(db: Queryable, filter: PaymentPageFilter, limit: number): Promise<PaymentRow[]> {
  const { rows } = await db.query<PaymentRow>(pageStatement(filter, limit));
  return rows;
}

const ORDERS = {
  older: { comparison: '<', order: 'created_at desc, id desc' },
  newer: { comparison: '>', order: 'created_at, id' },
} as const;

/**
 * Each status has its own range of the index (merchant_id, status, created_at, id): the heads of the ranges are merged,
 * so the page reads as many rows as it shows, times the number of statuses. As for `listStatement`, it has no name.
 */
export function pageStatement(filter: PaymentPageFilter, limit: number): { text: string; values: unknown[] } {
  const { merchantId, statuses, provider, createdFrom, createdTo, start } = filter;
  const { comparison, order } = ORDERS[start?.direction ?? 'older'];
  const values: unknown[] = [merchantId, limit];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const conditions = ['merchant_id = $1'];
  if (provider) conditions.push(`provider = ${bind(provider)}`);
  if (createdFrom) conditions.push(`created_at >= ${bind(createdFrom)}`);
  if (createdTo) conditions.push(`created_at <= ${bind(createdTo)}`);
  if (start) conditions.push(`(created_at, id) ${comparison} (${bind(start.than.createdAt)}, ${bind(start.than.id)})`);
  const where = conditions.join(' and ');
  if (statuses === null) {
    const text = `select ${PAYMENT_COLUMNS} from payments where ${where} order by ${order} limit $2`;
    return { text, values };
  }
  const text = `
    select ${PAYMENT_COLUMNS}
    from unnest(${bind(statuses)}::text[]) as wanted (wanted_status) cross join lateral (
      select * from payments where ${where} and status = wanted_status order by ${order} limit $2
    ) payments
    order by ${order} limit $2`;
  return { text, values };
}
