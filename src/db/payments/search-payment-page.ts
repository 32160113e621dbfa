import type { ProviderName } from '../../domain/provider-capabilities';
import type { Queryable } from '../connection/pool';
import { pageStatement, type PaymentPageFilter } from './list-payment-page';
import type { ListPosition } from './list-payments';
import { beginsWith } from './payment-indexes';
import type { PaymentRow } from './payment-row';

/** Each payment of the page is compared with these. */
interface PaymentCriteria {
  readonly totalRupiah?: number | undefined;
  readonly provider?: ProviderName | undefined;
  /** The beginning of the order number, in any case. */
  readonly orderBeginning?: string | undefined;
  /** How many payments are compared; 2,000 if absent. */
  readonly searched?: number | undefined;
}

/** How many payments one statement compares at most. */
const SEARCHED_PAYMENTS = 2_000;

export interface PaymentSearch {
  /** In the order of the direction. */
  readonly payments: readonly PaymentRow[];
  /** The last payment that was compared, if there may be more behind it. */
  readonly searchedTo: ListPosition | null;
}

interface SearchRow extends Partial<PaymentRow> {
  readonly searched: number;
  readonly lastCreatedAt: Date | null;
  readonly lastId: string | null;
}

/** Compares the nearest payments of a page with the criteria. @returns at most `limit` of them */
export async function searchPaymentPage(
  db: Queryable,
  filter: PaymentPageFilter,
  criteria: PaymentCriteria,
  limit: number,
): Promise<PaymentSearch> {
  const { rows } = await db.query<SearchRow>(searchStatement(filter, criteria, limit));
  const [first] = rows;
  const isCut = first?.searched === (criteria.searched ?? SEARCHED_PAYMENTS);
  const searchedTo =
    isCut && first.lastCreatedAt && first.lastId ? { createdAt: first.lastCreatedAt, id: first.lastId } : null;
  return { payments: rows.filter(isPayment), searchedTo };
}

/** Without a match there is one row, of the numbers alone. */
function isPayment(row: SearchRow): row is SearchRow & PaymentRow {
  return row.id !== undefined && row.id !== null;
}

function searchStatement(filter: PaymentPageFilter, criteria: PaymentCriteria, limit: number) {
  const { totalRupiah, provider, orderBeginning, searched = SEARCHED_PAYMENTS } = criteria;
  const page = pageStatement(filter, searched);
  const values = [...page.values];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const conditions = ['true'];
  if (totalRupiah !== undefined) conditions.push(`"totalRupiah" = ${bind(totalRupiah)}`);
  if (provider !== undefined) conditions.push(`provider = ${bind(provider)}`);
  if (orderBeginning !== undefined) {
    conditions.push(`lower("merchantReferenceId") like lower(${bind(beginsWith(orderBeginning))})`);
  }
  const isNewer = filter.start?.direction === 'newer';
  const order = isNewer ? '"createdAt", id' : '"createdAt" desc, id desc';
  const reverse = isNewer ? '"createdAt" desc, id desc' : '"createdAt", id';
  const text = `
    with searched as materialized (${page.text}),
      matches as (select * from searched where ${conditions.join(' and ')} order by ${order} limit ${bind(limit)})
    select numbers.*, matches.*
    from (select count(*)::int as searched,
        (select "createdAt" from searched order by ${reverse} limit 1) as "lastCreatedAt",
        (select id from searched order by ${reverse} limit 1) as "lastId"
      from searched) numbers left join matches on true
    order by ${order}`;
  return { text, values };
}
