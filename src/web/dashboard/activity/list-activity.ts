import { listMemberNames } from '../../../db/identity/members';
import {
  listMerchantActions,
  OPERATORS,
  type ActionStart,
  type MerchantActionRow,
} from '../../../db/merchants/list-merchant-actions';
import { cutPage } from '../../../lib/cut-page';
import { memberPage } from '../../page/page-route';
import type { SentFields } from '../../page/read-form';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse } from '../merchant-view';
import { objectOf } from './action-object';
import { actionFilter, activityFilterSchema, type ActivityFilter } from './activity-filter';
import { renderActivityPage } from './activity-page';
import { activityPath } from './activity-paths';
import { ACTIVITY_TEXTS } from './activity-texts';

/** Each row has an outcome of its own to read. */
const PAGE_SIZE = 40;

/** What the members and operators did: filters and position are in the address. */
export const listActivity = memberPage(
  { area: 'activity', level: 'view' },
  {
    method: 'get',
    path: activityPath.pattern,
    fields: activityFilterSchema,
    async handler(dependencies: Pick<DashboardDependencies, 'db' | 'environment'>, visit, query) {
      const view = merchantView(dependencies, visit);
      const { merchantId } = visit.member;
      const [members, found] = await Promise.all([
        listMemberNames(dependencies.db, merchantId),
        query.ok ? findPage(dependencies, merchantId, query.values, view.locale.zone) : NO_ACTIONS,
      ]);
      const known = {
        memberIds: new Set(members.map(({ userId }) => userId)),
        endpointIds: new Set(found.endpointIds),
      };
      const actions = found.actions.map((row) => ({ ...row, object: objectOf(view, row, known) }));
      const { lunas } = ACTIVITY_TEXTS[view.locale.language];
      const people = [...members.map(({ userId, name }) => ({ id: userId, name })), { id: OPERATORS, name: lunas }];
      const errors = query.ok ? {} : query.errors;
      const positions = positionsOf(found, query.sent);
      const page = { view, people, sent: query.sent, errors, actions, isCut: found.isCut, ...positions };
      return pageResponse(renderActivityPage(page), query.ok ? 200 : 422);
    },
  },
);

interface FoundActions {
  /** The newest first. */
  readonly actions: readonly MerchantActionRow[];
  readonly endpointIds: readonly string[];
  /** Where the neighbouring pages begin; null if there is none. */
  readonly newerThan: number | null;
  readonly olderThan: number | null;
  /** Whether only 2,000 actions were compared with the filter. */
  readonly isCut: boolean;
}

const NO_ACTIONS: FoundActions = { actions: [], endpointIds: [], newerThan: null, olderThan: null, isCut: false };

async function findPage(
  { db }: Pick<DashboardDependencies, 'db'>,
  merchantId: string,
  filter: ActivityFilter,
  zone: Parameters<typeof actionFilter>[2],
): Promise<FoundActions> {
  const start: ActionStart | null = filter.newer ?? filter.older ?? null;
  // One more than the page shows: if it exists, there is a next page.
  const page = await listMerchantActions(db, actionFilter(merchantId, filter, zone), start, PAGE_SIZE + 1);
  const { endpointIds, searchedTo } = page;
  const { shown, last } = cutPage(page.actions, PAGE_SIZE);
  const isCut = last === null && searchedTo !== null;
  const next = last?.id ?? searchedTo;
  const behind = shown[0]?.id ?? null;
  if (start?.direction === 'newer') {
    return { actions: shown.toReversed(), endpointIds, newerThan: next, olderThan: behind, isCut };
  }
  return { actions: shown, endpointIds, newerThan: start && behind, olderThan: next, isCut };
}

function positionsOf({ newerThan, olderThan }: FoundActions, sent: SentFields) {
  const { older: _, newer: __, ...filters } = sent;
  return {
    newer: newerThan === null ? null : { ...filters, newer: String(newerThan) },
    older: olderThan === null ? null : { ...filters, older: String(olderThan) },
  };
}
