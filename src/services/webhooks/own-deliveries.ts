import type { Queryable } from '../../db/connection/pool';
import type { ListPosition } from '../../db/payments/list-payments';
import { findDeliveryDetails, type DeliveryDetailsRow } from '../../db/webhooks/find-delivery-details';
import { listDeliveryPage, type DeliveryPageFilter, type DeliveryRow } from '../../db/webhooks/list-delivery-page';
import { NotFoundError } from '../../errors';
import { cutPage } from '../../lib/cut-page';
import type { WebhookEndpoint } from './webhook-endpoints';

/** Deliveries of a merchant, the newest first. */
export interface OwnDeliveries {
  readonly deliveries: readonly DeliveryRow[];
  /** Where the neighbouring pages begin; null: there is none. */
  readonly newerThan: ListPosition | null;
  readonly olderThan: ListPosition | null;
  /** Whether only 2,000 deliveries were compared with the filter. */
  readonly isCut: boolean;
}

/** @param size of the page, in deliveries */
export async function listOwnDeliveries(
  db: Queryable,
  filter: DeliveryPageFilter,
  size: number,
): Promise<OwnDeliveries> {
  const { start } = filter;
  // One more than the page shows: if it exists, there is a next page.
  const { deliveries, searchedTo } = await listDeliveryPage(db, filter, size + 1);
  const { shown, last } = cutPage(deliveries, size);
  const isCut = last === null && searchedTo !== null;
  const next = last ?? searchedTo;
  const behind = shown[0] ?? null;
  if (start?.direction === 'newer') {
    return { deliveries: shown.toReversed(), newerThan: next, olderThan: behind, isCut };
  }
  return { deliveries: shown, newerThan: start && behind, olderThan: next, isCut };
}

/** The newest deliveries of an endpoint, among the newest 2,000 of its merchant. */
export async function listNewestDeliveries(
  db: Queryable,
  { id, merchantId }: Pick<WebhookEndpoint, 'id' | 'merchantId'>,
  limit: number,
): Promise<readonly DeliveryRow[]> {
  const none = { status: null, event: null, createdFrom: null, createdTo: null, start: null };
  const { deliveries } = await listDeliveryPage(db, { merchantId, endpointId: id, ...none }, limit);
  return deliveries;
}

/** A delivery with its attempts. A disabled endpoint does not fail, because nothing is sent to it. */
export type OwnDelivery = DeliveryDetailsRow;

/** @throws NotFoundError if the merchant has no such delivery */
export async function findOwnDelivery(db: Queryable, merchantId: string, deliveryId: string): Promise<OwnDelivery> {
  const delivery = await findDeliveryDetails(db, merchantId, deliveryId);
  if (delivery === undefined) throw new NotFoundError('delivery', deliveryId);
  return { ...delivery, failingSince: delivery.endpointStatus === 'enabled' ? delivery.failingSince : null };
}
