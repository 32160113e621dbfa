import type { LinkStatus } from '../../domain/payment-link';
import type { Queryable } from '../connection/pool';
import type { ListPosition } from '../payments/list-payments';
import { HAS_PAID, LINK_COLUMNS, linksWhere, type PaymentLinkRow } from './payment-link-row';

interface LinkFilter {
  readonly merchantId: string;
  /** Absent: every status. */
  readonly status?: LinkStatus | undefined;
  /** Exclusive: only older links than this position. */
  readonly after?: ListPosition | undefined;
  /** The time at which the status is meant. */
  readonly at: Date;
}

/** Links of a merchant, newest first. Without a name, since the best plan depends on the filter. */
export async function listLinks(db: Queryable, filter: LinkFilter, limit: number): Promise<PaymentLinkRow[]> {
  const { merchantId, status, after, at } = filter;
  const values: unknown[] = [merchantId, limit];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const conditions = ['link.merchant_id = $1'];
  if (after) conditions.push(`(link.created_at, link.id) < (${bind(after.createdAt)}, ${bind(after.id)})`);
  if (status !== undefined) {
    const current = `payment_link_status(link.kind, ${HAS_PAID}, link.closed_at, link.expires_at, ${bind(at)})`;
    conditions.push(`${current} = ${bind(status)}`);
  }
  const page = `${conditions.join(' and ')} order by link.created_at desc, link.id desc limit $2`;
  const { rows } = await db.query<PaymentLinkRow>({
    text: `select ${LINK_COLUMNS} from ${linksWhere(page)} order by link.created_at desc, link.id desc`,
    values,
  });
  return rows;
}
