import { z } from 'zod';
import { decodeCursor, encodeCursor } from '../../../db/payments/cursor';
import type { PageStart } from '../../../db/payments/list-payment-page';
import type { ListPosition } from '../../../db/payments/list-payments';
import { findDeliveryDetails, type DeliveryDetailsRow } from '../../../db/webhooks/find-delivery-details';
import { listDeliveryPage, type DeliveryRow } from '../../../db/webhooks/list-delivery-page';
import { WEBHOOK_EVENTS } from '../../../domain/events';
import { ConflictError } from '../../../errors';
import type { EndpointResponse } from '../../../http/endpoint';
import { withUserAudit } from '../../../services/audit/user-audit';
import { listOwnEndpoints } from '../../../services/webhooks/webhook-endpoints';
import { redeliver, redeliveryRejection } from '../../../services/webhooks/webhook-redelivery';
import { PageError } from '../../page/page-error';
import { memberPage, NO_FIELDS, redirectTo, type MemberVisit } from '../../page/page-route';
import { endOfDay, startOfDay } from '../../ui/format';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantRejection, merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { userIdentity } from '../user-identity';
import { renderDeliveryListPage } from './delivery-list-page';
import { renderDeliveryPage } from './delivery-page';
import { DELIVERY_STATES } from './delivery-table';
import { DELIVERY_TEXTS } from './delivery-texts';
import { originOf } from './endpoint-parts';

const VIEW = { area: 'developers', level: 'view' } as const;
const MANAGE = { area: 'developers', level: 'manage' } as const;
const PATH = '/m/:code/developers/deliveries';
/** Each row is an event of its own to read. */
const PAGE_SIZE = 20;

type ReadDependencies = Pick<DashboardDependencies, 'db' | 'environment'>;
type RedeliverDependencies = Pick<DashboardDependencies, 'db' | 'environment' | 'log'>;

const cursorOf = (direction: PageStart['direction']) =>
  z
    .string()
    .transform((text, context): PageStart => {
      const than = decodeCursor(text);
      if (than) return { direction, than };
      context.addIssue('cursor');
      return z.NEVER;
    })
    .optional();

const listSchema = z.object({
  status: z.enum(DELIVERY_STATES).optional(),
  event: z.enum(WEBHOOK_EVENTS).optional(),
  endpoint: z.uuid().optional(),
  from: z.iso.date().optional(),
  to: z.iso.date().optional(),
  older: cursorOf('older'),
  newer: cursorOf('newer'),
  redelivered: z.coerce.number().int().min(0).max(1_000).optional().catch(undefined),
});

/** The list: filters and position are in the address. */
const listDeliveriesPage = memberPage(VIEW, {
  method: 'get',
  path: PATH,
  fields: listSchema,
  async handler({ db, ...dependencies }: ReadDependencies, visit, query) {
    const view = merchantView(dependencies, visit);
    const { merchantId } = visit.member;
    const endpoints = await listOwnEndpoints(db, merchantId);
    const found = query.ok ? await findRows(db, merchantId, view, query.values) : NO_ROWS;
    const { redelivered: _, older: __, newer: ___, ...filters } = query.sent;
    const { error } = DELIVERY_TEXTS[view.locale.language];
    const html = renderDeliveryListPage({
      view,
      sent: filters,
      errors: query.ok ? {} : Object.fromEntries(Object.keys(query.errors).map((name) => [name, error])),
      deliveries: found.deliveries,
      endpoints: endpoints.map(({ id, url, status, failingSince }) => ({
        id,
        origin: originOf(url),
        failingSince: status === 'enabled' ? failingSince : null,
      })),
      newer: found.newerThan && { ...filters, newer: encodeCursor(found.newerThan) },
      older: found.olderThan && { ...filters, older: encodeCursor(found.olderThan) },
      isCut: found.isCut,
      redelivered: query.ok ? query.values.redelivered : undefined,
    });
    return pageResponse(html, query.ok ? 200 : 422);
  },
});

interface FoundPage {
  readonly deliveries: readonly DeliveryRow[];
  /** Where the neighbouring pages begin; null: there is none. */
  readonly newerThan: ListPosition | null;
  readonly olderThan: ListPosition | null;
  /** Whether only 2,000 deliveries were compared with the filter. */
  readonly isCut: boolean;
}

const NO_ROWS: FoundPage = { deliveries: [], newerThan: null, olderThan: null, isCut: false };

async function findRows(
  db: ReadDependencies['db'],
  merchantId: string,
  { locale }: MerchantView,
  { status, event, endpoint, from, to, older, newer }: z.output<typeof listSchema>,
): Promise<FoundPage> {
  const start = newer ?? older ?? null;
  const filter = {
    merchantId,
    status: status ?? null,
    event: event ?? null,
    endpointId: endpoint ?? null,
    createdFrom: from === undefined ? null : startOfDay(from, locale.zone),
    createdTo: to === undefined ? null : endOfDay(to, locale.zone),
    start,
  };
  // One more than the page shows: if it exists, there is a next page.
  const { deliveries, searchedTo } = await listDeliveryPage(db, filter, PAGE_SIZE + 1);
  const shown = deliveries.slice(0, PAGE_SIZE);
  const hasMore = deliveries.length > PAGE_SIZE;
  const isCut = !hasMore && searchedTo !== null;
  const next = hasMore ? (shown.at(-1) ?? null) : searchedTo;
  const behind = shown[0] ?? null;
  if (start?.direction === 'newer') {
    return { deliveries: shown.toReversed(), newerThan: next, olderThan: behind, isCut };
  }
  return { deliveries: shown, newerThan: start && behind, olderThan: next, isCut };
}

const showDeliveryPage = memberPage(VIEW, {
  method: 'get',
  path: `${PATH}/:delivery`,
  fields: z.object({ done: z.enum(['redelivered']).optional().catch(undefined) }),
  handler: async (dependencies: ReadDependencies, visit, query) =>
    detailPage(dependencies, visit, 200, query.ok && query.values.done !== undefined),
});

const redeliverByForm = memberPage(MANAGE, {
  method: 'post',
  path: `${PATH}/:delivery/redeliver`,
  fields: NO_FIELDS,
  async handler(dependencies: RedeliverDependencies, visit) {
    const view = merchantView(dependencies, visit);
    const delivery = await findDeliveryOfPath(dependencies, visit);
    if (rejectionOf(view, delivery) !== null) return detailPage(dependencies, visit, 409);
    const action = { action: 'webhook.redeliver', target: delivery.id } as const;
    try {
      await withUserAudit(dependencies.db, userIdentity(dependencies, visit), action, () =>
        redeliver(dependencies.db, [delivery.id], visit.member.merchantId),
      );
    } catch (error) {
      if (error instanceof ConflictError) return detailPage(dependencies, visit, 409);
      throw error;
    }
    return redirectTo(`${view.paths.delivery(delivery.id)}?done=redelivered`);
  },
});

export const deliveryPages = [listDeliveriesPage, showDeliveryPage, redeliverByForm];

async function detailPage(
  dependencies: ReadDependencies,
  visit: MemberVisit,
  status: number,
  isDone = false,
): Promise<EndpointResponse> {
  const view = merchantView(dependencies, visit);
  const { url, ...row } = await findDeliveryOfPath(dependencies, visit);
  // Nothing is sent to a disabled endpoint, so that it does not fail either.
  const failingSince = row.endpointStatus === 'enabled' ? row.failingSince : null;
  const delivery = { ...row, failingSince, body: prettyBody(row.body), headers: headersOf(row), origin: originOf(url) };
  const rejection = rejectionOf(view, row);
  return pageResponse(renderDeliveryPage({ view, delivery, rejection, isDone }), status);
}

/** @throws PageError `not_found`, also for a delivery of another merchant */
async function findDeliveryOfPath(
  { db }: Pick<DashboardDependencies, 'db'>,
  { request, member }: Pick<MemberVisit, 'request' | 'member'>,
): Promise<DeliveryDetailsRow> {
  const deliveryId = z.uuid().safeParse(request.params.delivery).data;
  const delivery = deliveryId && (await findDeliveryDetails(db, member.merchantId, deliveryId));
  if (!delivery) throw new PageError('not_found', 'the merchant has no such delivery');
  return delivery;
}

/** For the button and its form. */
function rejectionOf(
  view: MerchantView,
  delivery: Pick<DeliveryDetailsRow, 'status' | 'endpointStatus' | 'isEndpointDeleted'>,
): string | null {
  const rejection = redeliveryRejection(delivery);
  if (rejection !== null) return DELIVERY_TEXTS[view.locale.language].rejections[rejection];
  return merchantRejection(view);
}

function prettyBody(body: string): string {
  return JSON.stringify(JSON.parse(body), null, 2);
}

/** The headers as sent, without signature and timestamp, which differ in each attempt. */
function headersOf({ id, event }: Pick<DeliveryDetailsRow, 'id' | 'event'>): string {
  return [
    'Content-Type: application/json',
    `X-Service-Event: ${event}`,
    `X-Service-Delivery: ${id}`,
    `webhook-id: ${id}`,
  ].join('\n');
}
