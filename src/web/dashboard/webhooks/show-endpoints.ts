import { z } from 'zod';
import { listDeliveryPage, type DeliveryPageFilter } from '../../../db/webhooks/list-delivery-page';
import { listOwnEndpoints, type WebhookEndpoint } from '../../../services/webhooks/webhook-endpoints';
import { memberPage } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse } from '../merchant-view';
import { renderEndpointListPage } from './endpoint-list-page';
import { renderEndpointPage } from './endpoint-page';
import { findEndpointOfPath } from './find-endpoint';

const VIEW = { area: 'developers', level: 'view' } as const;
const fields = z.object({ done: z.enum(['saved', 'disabled', 'enabled', 'deleted']).optional().catch(undefined) });

const SHOWN_DELIVERIES = 20;

type ReadDependencies = Pick<DashboardDependencies, 'db' | 'environment'>;

const listEndpointPage = memberPage(VIEW, {
  method: 'get',
  path: '/m/:code/developers/webhooks',
  fields,
  async handler(dependencies: ReadDependencies, visit, query) {
    const endpoints = await listOwnEndpoints(dependencies.db, visit.member.merchantId);
    const isDeleted = query.ok && query.values.done === 'deleted';
    const view = merchantView(dependencies, visit);
    return pageResponse(renderEndpointListPage({ view, endpoints, isDeleted }));
  },
});

const showEndpointPage = memberPage(VIEW, {
  method: 'get',
  path: '/m/:code/developers/webhooks/:endpoint',
  fields,
  async handler(dependencies: ReadDependencies, visit, query) {
    const endpoint = await findEndpointOfPath(dependencies, visit);
    const done = query.ok ? query.values.done : undefined;
    const { deliveries } = await listDeliveryPage(dependencies.db, newestOf(endpoint), SHOWN_DELIVERIES);
    return pageResponse(renderEndpointPage({ view: merchantView(dependencies, visit), endpoint, deliveries, done }));
  },
});

/** The deliveries of an endpoint among the newest 2,000 of the merchant. */
function newestOf({ id, merchantId }: Pick<WebhookEndpoint, 'id' | 'merchantId'>): DeliveryPageFilter {
  return { merchantId, status: null, event: null, endpointId: id, createdFrom: null, createdTo: null, start: null };
}

export const endpointPages = [listEndpointPage, showEndpointPage];
