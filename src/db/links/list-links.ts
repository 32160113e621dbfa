import { MIN_LINK_REST_SECONDS, type LinkStatus } from '../../domain/payment-link';
import type { Queryable } from '../connection/pool';
import type { ListPosition } from '../payments/list-payments';
import { LINK_COLUMNS, type PaymentLinkRow } from './payment-link-row';

interface LinkFilter {
  readonly merchantId: string;
  /** Absent: every status. */
  readonly status?: LinkStatus | undefined;
  /** Exclusive: only older links than this position. */
  readonly after?: ListPosition | undefined;
  /** The time at which the status is meant. */
  readonly at: Date;
}

const IS_PAID = "(link.kind = 'once' and link.paid_count > 0)";
const ends = (at: string) => `link.expires_at < ${at} + interval '${MIN_LINK_REST_SECONDS} seconds'`;

/** `payment_link_status` as conditions, from which the planner learns how many links they find. `at`: the time. */
const CONDITIONS: Readonly<Record<LinkStatus, (at: () => string) => string>> = {
  active: (at) => `link.closed_at is null and not ${IS_PAID} and (${ends(at())}) is not true`,
  paid: () => IS_PAID,
  closed: () => `link.closed_at is not null and not ${IS_PAID}`,
  expired: (at) => `link.closed_at is null and link.expires_at is not null and not ${IS_PAID} and ${ends(at())}`,
};

/** Links of a merchant, newest first. Without a name, since the best plan depends on the filter. */
export async function listLinks(db: Queryable, filter: LinkFilter, limit: number): Promise<PaymentLinkRow[]> {
  const { merchantId, status, after, at } = filter;
  const values: unknown[] = [merchantId, limit];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const conditions = ['link.merchant_id = $1'];
  if (after) conditions.push(`(link.created_at, link.id) < (${bind(after.createdAt)}, ${bind(after.id)})`);
  if (status !== undefined) conditions.push(CONDITIONS[status](() => `${bind(at)}::timestamptz`));
  const { rows } = await db.query<PaymentLinkRow>({
    text: `select ${LINK_COLUMNS} from payment_links link where ${conditions.join(' and ')}
      order by link.created_at desc, link.id desc limit $2`,
    values,
  });
  return rows;
}
