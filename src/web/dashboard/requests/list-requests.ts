import { z } from 'zod';
import {
  listMerchantRequests,
  type MerchantRequestPage,
  type RequestPosition,
} from '../../../db/merchants/list-merchant-requests';
import { listNewestKeys } from '../../../services/merchants/keys/api-key';
import { memberPage } from '../../page/page-route';
import { endOfDay, startOfDay, type Locale } from '../../ui/format';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { areDaysInOrder, dayField, DAYS_NOT_IN_ORDER } from '../list-fields';
import { merchantView, pageResponse } from '../merchant-view';
import { renderRequestListPage } from './request-list-page';
import { requestsPath } from './request-paths';
import { STATUS_CLASSES, type StatusClass } from './request-texts';
import { shownRequest } from './shown-request';

const PAGE_SIZE = 50;

const STATUSES = {
  all: null,
  successful: [100, 399],
  rejected: [400, 499],
  failed: [500, 599],
} as const satisfies Record<StatusClass, readonly [number, number] | null>;

const POSITION = /^(\d{1,15})-(\d{1,15})$/;

function encodePosition({ startedAt, id }: RequestPosition): string {
  return `${startedAt.getTime()}-${id}`;
}

const position = z.string().transform((text, context): RequestPosition => {
  const [, milliseconds, id] = POSITION.exec(text) ?? [];
  if (id !== undefined) return { startedAt: new Date(Number(milliseconds)), id: Number(id) };
  context.addIssue('cursor');
  return z.NEVER;
});

const filterSchema = z
  .object({
    status: z.enum(STATUS_CLASSES, { error: 'class' }).default('all'),
    key: z.uuid({ error: 'key' }).optional(),
    from: dayField,
    to: dayField,
    older: position.optional(),
  })
  .refine(areDaysInOrder, DAYS_NOT_IN_ORDER);

/** The requests with the merchant's keys: filters and position are in the address. */
export const listRequestPage = memberPage(
  { area: 'developers', level: 'view' },
  {
    method: 'get',
    path: requestsPath.pattern,
    fields: filterSchema,
    async handler(dependencies: Pick<DashboardDependencies, 'db' | 'environment'>, visit, query) {
      const view = merchantView(dependencies, visit);
      const { merchantId } = visit.member;
      const keys = await listNewestKeys(dependencies.db, merchantId);
      const { requests, next, isLimited } = query.ok
        ? await findPage(dependencies, merchantId, query.values, view.locale)
        : NO_ROWS;
      const errors = query.ok ? {} : query.errors;
      const older = next && { ...query.sent, older: encodePosition(next) };
      const page = { view, keys, sent: query.sent, errors, requests: requests.map(shownRequest), older, isLimited };
      return pageResponse(renderRequestListPage(page), query.ok ? 200 : 422);
    },
  },
);

const NO_ROWS: MerchantRequestPage = { requests: [], next: null, isLimited: false };

async function findPage(
  { db }: Pick<DashboardDependencies, 'db'>,
  merchantId: string,
  { status, key, from, to, older }: z.output<typeof filterSchema>,
  { zone }: Locale,
): Promise<MerchantRequestPage> {
  const filter = {
    merchantId,
    statuses: STATUSES[status],
    keyId: key ?? null,
    from: from === undefined ? null : startOfDay(from, zone),
    to: to === undefined ? null : endOfDay(to, zone),
    olderThan: older ?? null,
  };
  return listMerchantRequests(db, filter, PAGE_SIZE);
}
