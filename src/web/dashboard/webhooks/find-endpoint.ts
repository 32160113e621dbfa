import { z } from 'zod';
import { NotFoundError } from '../../../errors';
import { findEndpoint, type WebhookEndpoint } from '../../../services/webhooks/webhook-endpoints';
import { PageError } from '../../page/page-error';
import type { MemberVisit } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';

/**
 * The endpoint of the path.
 * @throws PageError `not_found`, also for an endpoint of another merchant, and one that was deleted
 */
export async function findEndpointOfPath(
  { db }: Pick<DashboardDependencies, 'db'>,
  { request, member }: Pick<MemberVisit, 'request' | 'member'>,
): Promise<WebhookEndpoint> {
  const endpointId = z.uuid().safeParse(request.params.endpoint).data;
  if (endpointId === undefined) throw new PageError('not_found', 'the path has no id of an endpoint');
  return findEndpoint(db, endpointId, member.merchantId).catch((error: unknown) => {
    throw error instanceof NotFoundError ? new PageError('not_found', error.message) : error;
  });
}
