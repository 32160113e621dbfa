import type { PaymentStatus } from '../../domain/payment-transitions';
import type { ProviderName } from '../../domain/provider-capabilities';
import type { Queryable } from '../pool';
import { PAYMENT_COLUMNS, type PaymentRow } from './payment-row';

/** A place in the order of lists: newest first, and by id among payments of the same millisecond. */
export type ListPosition = Pick<PaymentRow, 'createdAt' | 'id'>;

/** Which payments of a merchant are listed: those that match everything that is given. */
export interface MerchantPaymentFilter {
  readonly merchantId: string;
  readonly status?: PaymentStatus | undefined;
  readonly provider?: ProviderName | undefined;
  readonly merchantReferenceId?: string | undefined;
  /** Inclusive, as is `createdTo`. */
  readonly createdFrom?: Date | undefined;
  readonly createdTo?: Date | undefined;
  /** Exclusive: only what comes after this place, that is older payments. */
  readonly after?: ListPosition | undefined;
}

/** Payments of a merchant, newest first. */
export async function listMerchantPayments(
  db: Queryable,
  filter: MerchantPaymentFilter,
  limit: number,
): Promise<PaymentRow[]> {
  const { rows } = await db.query<PaymentRow>(listStatement(filter, limit));
  return rows;
}

/**
 * The statement of a page. It is left unnamed on purpose: a named one would soon be planned once for all values, and
 * which index serves a filter best depends on its value and on the limit.
 */
export function listStatement(
  { after, ...filter }: MerchantPaymentFilter,
  limit: number,
): { text: string; values: unknown[] } {
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const conditions = COMPARISONS.flatMap(([name, comparison]) =>
    filter[name] === undefined ? [] : [`${comparison} ${bind(filter[name])}`],
  );
  if (after) conditions.push(`(created_at, id) < (${bind(after.createdAt)}, ${bind(after.id)})`);
  const text = `select ${PAYMENT_COLUMNS} from payments where ${conditions.join(' and ')}
    order by created_at desc, id desc limit ${bind(limit)}`;
  return { text, values };
}

const COMPARISONS = [
  ['merchantId', 'merchant_id ='],
  ['status', 'status ='],
  ['provider', 'provider ='],
  ['merchantReferenceId', 'merchant_reference_id ='],
  ['createdFrom', 'created_at >='],
  ['createdTo', 'created_at <='],
] as const satisfies readonly (readonly [Exclude<keyof MerchantPaymentFilter, 'after'>, string])[];
