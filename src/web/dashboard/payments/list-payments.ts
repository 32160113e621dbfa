import { encodeCursor } from '../../../api/payments/list-transactions/cursor';
import { parsePathId } from '../../../api/payments/path-id';
import { findMerchantPayment } from '../../../db/queries/find-payment';
import { listPaymentPage } from '../../../db/queries/list-payment-page';
import { listMerchantPayments } from '../../../db/queries/list-payments';
import type { PaymentRow } from '../../../db/queries/payment-row';
import { memberPage } from '../../page/page-route';
import type { SentFields } from '../../page/read-form';
import { endOfDay, startOfDay, type Locale } from '../../ui/format';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse } from '../merchant-view';
import { listFilterSchema, type ListFilter } from './list-filter';
import { renderListPage } from './list-page';
import { PAYMENT_GROUPS } from './payment-groups';

const PAGE_SIZE = 50;

/** The list: filters and position are in the address. */
export const listPayments = memberPage(
  { area: 'payments', level: 'view' },
  {
    method: 'get',
    path: '/m/:code/payments',
    fields: listFilterSchema,
    async handler(dependencies: Pick<DashboardDependencies, 'db' | 'environment'>, visit, query) {
      const view = merchantView(dependencies, visit);
      const { merchantId } = visit.member;
      const found = query.ok ? await findPage(dependencies, merchantId, query.values, view.locale) : NO_ROWS;
      const errors = query.ok ? {} : query.errors;
      const page = { view, sent: query.sent, errors, ...found, ...cursorsOf(found, query.sent) };
      return pageResponse(renderListPage(page), query.ok ? 200 : 422);
    },
  },
);

interface FoundPage {
  readonly payments: readonly PaymentRow[];
  readonly hasNewer: boolean;
  readonly hasOlder: boolean;
}

const NO_ROWS: FoundPage = { payments: [], hasNewer: false, hasOlder: false };

async function findPage(
  { db }: Pick<DashboardDependencies, 'db'>,
  merchantId: string,
  { q, group, status, from, to, older, newer }: ListFilter,
  { zone }: Locale,
): Promise<FoundPage> {
  if (q !== undefined) return { ...NO_ROWS, payments: await search(db, merchantId, q) };
  const start = newer ?? older ?? null;
  const filter = {
    merchantId,
    statuses: status === undefined ? PAYMENT_GROUPS[group] : [status],
    createdFrom: from === undefined ? null : startOfDay(from, zone),
    createdTo: to === undefined ? null : endOfDay(to, zone),
    start,
  };
  // One more than the page shows: if it exists, there is a next page.
  const rows = await listPaymentPage(db, filter, PAGE_SIZE + 1);
  const hasMore = rows.length > PAGE_SIZE;
  const payments = rows.slice(0, PAGE_SIZE);
  if (start?.direction === 'newer') return { payments: payments.toReversed(), hasNewer: hasMore, hasOlder: true };
  return { payments, hasNewer: start !== null, hasOlder: hasMore };
}

/** A payment by its reference or id, else those with the order id. */
async function search(db: DashboardDependencies['db'], merchantId: string, text: string): Promise<PaymentRow[]> {
  const key = parsePathId(text) ?? parsePathId(text.toUpperCase());
  const payment = key && (await findMerchantPayment(db, merchantId, key));
  return payment ? [payment] : listMerchantPayments(db, { merchantId, merchantReferenceId: text }, PAGE_SIZE);
}

function cursorsOf({ payments, hasNewer, hasOlder }: FoundPage, sent: SentFields) {
  const { older: _, newer: __, ...filters } = sent;
  const [first, last] = [payments[0], payments.at(-1)];
  return {
    newer: hasNewer && first ? { ...filters, newer: encodeCursor(first) } : null,
    older: hasOlder && last ? { ...filters, older: encodeCursor(last) } : null,
  };
}
