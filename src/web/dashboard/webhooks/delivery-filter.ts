import { z } from 'zod';
import { decodeCursor, encodeCursor } from '../../../db/payments/cursor';
import type { PageStart } from '../../../db/payments/list-payment-page';
import type { DeliveryPageFilter } from '../../../db/webhooks/list-delivery-page';
import { WEBHOOK_EVENTS } from '../../../domain/events';
import type { OwnDeliveries } from '../../../services/webhooks/own-deliveries';
import type { MemberVisit } from '../../page/page-route';
import type { SentFields } from '../../page/read-form';
import { endOfDay, startOfDay } from '../../ui/format';
import { DELIVERY_STATES } from './delivery-table';

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

/** The query of the list of deliveries. */
export const deliveryQuery = z.object({
  status: z.enum(DELIVERY_STATES).optional(),
  event: z.enum(WEBHOOK_EVENTS).optional(),
  endpoint: z.uuid().optional(),
  from: z.iso.date().optional(),
  to: z.iso.date().optional(),
  older: cursorOf('older'),
  newer: cursorOf('newer'),
  redelivered: z.coerce.number().int().min(0).max(1_000).optional().catch(undefined),
});

export function deliveryFilter(
  { merchantId, timeZone }: MemberVisit['member'],
  { status, event, endpoint, from, to, older, newer }: z.output<typeof deliveryQuery>,
): DeliveryPageFilter {
  return {
    merchantId,
    status: status ?? null,
    event: event ?? null,
    endpointId: endpoint ?? null,
    createdFrom: from === undefined ? null : startOfDay(from, timeZone),
    createdTo: to === undefined ? null : endOfDay(to, timeZone),
    start: newer ?? older ?? null,
  };
}

/** The queries of the neighbouring pages; null: there is none. */
export function neighbourQueries(filters: SentFields, { newerThan, olderThan }: OwnDeliveries) {
  return {
    newer: newerThan && { ...filters, newer: encodeCursor(newerThan) },
    older: olderThan && { ...filters, older: encodeCursor(olderThan) },
  };
}
