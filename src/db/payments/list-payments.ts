import type { PaymentStatus } from '../../domain/payment-transitions';
import type { ProviderName } from '../../domain/provider-capabilities';
import type { Queryable } from '../connection/pool';
import type { LinkKey } from '../links/find-link';
import { hasOrderId } from './payment-indexes';
import { columnsWith, type PaymentPart, type PaymentWithParts } from './payment-parts';
import type { PaymentRow } from './payment-row';

/** A position in a list: newest first, and by id among payments of the same millisecond. */
export type ListPosition = Pick<PaymentRow, 'createdAt' | 'id'>;

/** Lists the payments of a merchant that match all given conditions. */
export interface MerchantPaymentFilter {
  readonly merchantId: string;
  readonly status?: PaymentStatus | undefined;
  readonly provider?: ProviderName | undefined;
  readonly merchantReferenceId?: string | undefined;
  /** Only those that were made by this payment link. */
  readonly link?: LinkKey | undefined;
  /** Inclusive, as is `createdTo`. */
  readonly createdFrom?: Date | undefined;
  readonly createdTo?: Date | undefined;
  /** Exclusive: only older payments than this position. */
  readonly after?: ListPosition | undefined;
}

/** Payments of a merchant, newest first. */
export async function listMerchantPayments(
  db: Queryable,
  filter: MerchantPaymentFilter,
  limit: number,
  parts: readonly PaymentPart[] = [],
): Promise<PaymentWithParts[]> {
  const { rows } = await db.query<PaymentWithParts>(listStatement(filter, limit, parts));
  return rows;
}

/**
 * The statement of a page. It has no name on purpose: PostgreSQL would soon plan a named one once for all values, and
 * the best index depends on the values and the limit.
 */
export function listStatement(
  { after, link, ...filter }: MerchantPaymentFilter,
  limit: number,
  parts: readonly PaymentPart[] = [],
): { text: string; values: unknown[] } {
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const conditions = COMPARISONS.flatMap(([name, comparison]) =>
    filter[name] === undefined ? [] : [comparison(bind(filter[name]))],
  );
  if (link) conditions.push(`id in (${paymentsOfLink(link, bind)})`);
  if (after) conditions.push(`(created_at, id) < (${bind(after.createdAt)}, ${bind(after.id)})`);
  const text = `select ${columnsWith(parts)} from payments where ${conditions.join(' and ')}
    order by created_at desc, id desc limit ${bind(limit)}`;
  return { text, values };
}

function paymentsOfLink(link: LinkKey, bind: (value: unknown) => string): string {
  const own = 'select payment_id from payment_link_payments own';
  if ('id' in link) return `${own} where own.link_id = ${bind(link.id)}`;
  return `${own} join payment_links on payment_links.id = own.link_id
    where payment_links.reference_id = ${bind(link.referenceId)}`;
}

const COMPARISONS = [
  ['merchantId', (value) => `merchant_id = ${value}`],
  ['status', (value) => `status = ${value}`],
  ['provider', (value) => `provider = ${value}`],
  ['merchantReferenceId', hasOrderId],
  ['createdFrom', (value) => `created_at >= ${value}`],
  ['createdTo', (value) => `created_at <= ${value}`],
] as const satisfies readonly (readonly [
  Exclude<keyof MerchantPaymentFilter, 'after' | 'link'>,
  (value: string) => string,
])[];
