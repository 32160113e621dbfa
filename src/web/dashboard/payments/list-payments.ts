import { MAX as MAX_ID } from 'uuid';
import { encodeCursor } from '../../../db/payments/cursor';
import type { PageStart } from '../../../db/payments/list-payment-page';
import type { ListPosition } from '../../../db/payments/list-payments';
import { readPeriodFigure, type PeriodFigure } from '../../../db/payments/payment-figures';
import type { PaymentRow } from '../../../db/payments/payment-row';
import { PAYMENT_STATUSES } from '../../../domain/payment-transitions';
import { cutPage } from '../../../lib/cut-page';
import { searchPayments } from '../../../services/payments/search-payments';
import { memberPage, type MemberVisit } from '../../page/page-route';
import type { SentFields } from '../../page/read-form';
import { endOfDay, startOfDay } from '../../ui/format';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse } from '../merchant-view';
import { countNewer, findFiltered, FOUND_LIMIT, type FilteredPayments } from './find-page';
import { listFilterSchema, type ListFilter } from './list-filter';
import { MAX_NEW, renderListPage } from './list-page';
import { PAYMENT_GROUPS } from './payment-groups';
import { paymentsPath } from './payment-paths';

const PAGE_SIZE = 50;

/** The list: filters and position are in the address. */
export const listPayments = memberPage(
  { area: 'payments', level: 'view' },
  {
    method: 'get',
    path: paymentsPath.pattern,
    fields: listFilterSchema,
    async handler(dependencies: Pick<DashboardDependencies, 'db' | 'environment'>, visit, query) {
      const view = merchantView(dependencies, visit);
      const { merchantId, timeZone } = visit.member;
      const { top: _, ...sent } = query.sent;
      const found = query.ok
        ? await findPage(dependencies, { merchantId, filter: query.values, zone: timeZone })
        : NO_ROWS;
      const seesTurnover = view.rightRejection('turnover', 'view') === null;
      const sum = query.ok && seesTurnover ? await findSum(dependencies, visit, query.values) : null;
      const errors = query.ok ? {} : query.errors;
      const page = { view, sent, errors, sum, ...found, top: topOf(found), ...cursorsOf(found, sent) };
      return pageResponse(renderListPage(page), query.ok ? 200 : 422);
    },
  },
);

interface FoundPage {
  readonly payments: readonly PaymentRow[];
  /** Where the neighbouring pages begin; null if there is none. */
  readonly newerThan: ListPosition | null;
  readonly olderThan: ListPosition | null;
  /** Whether only 2,000 payments were compared with the filter, or the search found more than it shows. */
  readonly isCut: boolean;
  /** Payments above the page since it was opened, at most one more than are counted. */
  readonly newCount: number;
}

const NO_ROWS: FoundPage = { payments: [], newerThan: null, olderThan: null, isCut: false, newCount: 0 };

async function findPage({ db }: Pick<DashboardDependencies, 'db'>, filtered: FilteredPayments): Promise<FoundPage> {
  const { q, older, newer, top } = filtered.filter;
  if (q !== undefined) return search(db, filtered.merchantId, q);
  const start = newer ?? older ?? null;
  const first: PageStart | null = top ? { direction: 'older', than: top } : null;
  // One more than the page shows: if it exists, there is a next page.
  const found = await findFiltered(db, filtered, start ?? first, PAGE_SIZE + 1);
  const { shown, last } = cutPage(found.payments, PAGE_SIZE);
  const isCut = last === null && found.searchedTo !== null;
  const next = last ?? found.searchedTo;
  const behind = shown[0] ?? null;
  if (start?.direction === 'newer') {
    return { payments: shown.toReversed(), newerThan: next, olderThan: behind, isCut, newCount: 0 };
  }
  const newCount = top && !start ? await countNewer(db, filtered, top, MAX_NEW + 1) : 0;
  return { payments: shown, newerThan: start && behind, olderThan: next, isCut, newCount };
}

async function search(db: DashboardDependencies['db'], merchantId: string, text: string): Promise<FoundPage> {
  const { payments, isComplete } = await searchPayments(db, { merchantId, text }, FOUND_LIMIT);
  return { ...NO_ROWS, payments, isCut: !isComplete };
}

/** Above the first row, and all payments of its millisecond: what comes later is counted, and moves no row. */
function topOf({ payments: [first] }: FoundPage): string | null {
  return first === undefined ? null : encodeCursor({ createdAt: first.createdAt, id: MAX_ID });
}

/** A longer period has more totals than a page may read. */
const MAX_SUM_DAYS = 31;
const DAY_MS = 86_400_000;

/** Count and sum of all payments of the filter; null if it has no days, or something that the totals do not have. */
async function findSum(
  { db }: Pick<DashboardDependencies, 'db'>,
  { member, now }: Pick<MemberVisit, 'member' | 'now'>,
  { q, group, status, provider, amount, from, to }: ListFilter,
): Promise<PeriodFigure | null> {
  if (q !== undefined || amount !== undefined || from === undefined) return null;
  const period = {
    merchantId: member.merchantId,
    from: startOfDay(from, member.timeZone),
    to: to === undefined ? now : endOfDay(to, member.timeZone),
  };
  if (period.to.getTime() - period.from.getTime() > MAX_SUM_DAYS * DAY_MS) return null;
  const statuses = status === undefined ? (PAYMENT_GROUPS[group] ?? PAYMENT_STATUSES) : [status];
  return readPeriodFigure(db, period, { statuses, provider });
}

function cursorsOf({ newerThan, olderThan }: FoundPage, sent: SentFields) {
  const { older: _, newer: __, ...filters } = sent;
  return {
    newer: newerThan && { ...filters, newer: encodeCursor(newerThan) },
    older: olderThan && { ...filters, older: encodeCursor(olderThan) },
  };
}
