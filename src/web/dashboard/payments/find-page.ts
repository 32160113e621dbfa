import type { Queryable } from '../../../db/connection/pool';
import { countNewerPayments } from '../../../db/payments/count-newer-payments';
import { listPaymentPage, type PageStart } from '../../../db/payments/list-payment-page';
import type { ListPosition } from '../../../db/payments/list-payments';
import type { PaymentRow } from '../../../db/payments/payment-row';
import { searchPaymentPage } from '../../../db/payments/search-payment-page';
import { searchPayments } from '../../../services/payments/search-payments';
import { endOfDay, startOfDay, type Locale } from '../../ui/format';
import type { ListFilter } from './list-filter';
import { PAYMENT_GROUPS } from './payment-groups';

/** A search has no pages. */
export const FOUND_LIMIT = 50;

export interface FilteredPayments {
  readonly merchantId: string;
  readonly filter: ListFilter;
  readonly zone: Locale['zone'];
}

interface FoundPayments {
  /** In the order of the direction. */
  readonly payments: readonly PaymentRow[];
  /** The last payment that was compared with the filter, if the limit of 2,000 was reached. */
  readonly searchedTo: ListPosition | null;
}

/** At most `limit` payments that the filter selects, from the start on: as the list shows and exports them. */
export async function findFiltered(
  db: Queryable,
  { merchantId, filter, zone }: FilteredPayments,
  start: PageStart | null,
  limit: number,
): Promise<FoundPayments> {
  const { q, provider, from, to, amount } = filter;
  if (q !== undefined) return { payments: await findByText(db, { merchantId, text: q }, start), searchedTo: null };
  const page = {
    merchantId,
    statuses: statusesOf(filter),
    createdFrom: from === undefined ? null : startOfDay(from, zone),
    createdTo: to === undefined ? null : endOfDay(to, zone),
    start,
  };
  if (amount !== undefined || (provider !== undefined && page.statuses !== null)) {
    return searchPaymentPage(db, page, { totalRupiah: amount, provider }, limit);
  }
  return { payments: await listPaymentPage(db, { ...page, provider }, limit), searchedTo: null };
}

/** How many payments that the filter selects are above the position, at most `limit`. */
export function countNewer(
  db: Queryable,
  { merchantId, filter, zone }: FilteredPayments,
  than: ListPosition,
  limit: number,
): Promise<number> {
  const { provider, to, amount: totalRupiah } = filter;
  const createdTo = to === undefined ? null : endOfDay(to, zone);
  return countNewerPayments(
    db,
    { merchantId, than, statuses: statusesOf(filter), provider, totalRupiah, createdTo },
    limit,
  );
}

const statusesOf = ({ group, status }: ListFilter) => (status === undefined ? PAYMENT_GROUPS[group] : [status]);

async function findByText(
  db: Queryable,
  searched: Parameters<typeof searchPayments>[1],
  start: PageStart | null,
): Promise<readonly PaymentRow[]> {
  return start === null ? (await searchPayments(db, searched, FOUND_LIMIT)).payments : [];
}
