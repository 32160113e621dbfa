import type { WebhookEvent } from '../../domain/events';
import type { WebhookExpansion } from '../../domain/expansions';
import type { SubjectKind } from '../../domain/subject';
import type { Queryable } from '../connection/pool';
import { ALL_SUBJECT_TABLES } from '../transitions/subjects';
import { joinSubject } from './delivery-subject';

export interface DeliveryAttemptRow {
  readonly number: number;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly statusCode: number | null;
  readonly failure: string | null;
  readonly responseExcerpt: string | null;
}

export interface DeliveryDetailsRow {
  readonly id: string;
  readonly event: WebhookEvent;
  /** The bytes that are signed and sent, if the endpoint adds nothing. */
  readonly body: string;
  /** What the endpoint adds now. */
  readonly expand: readonly WebhookExpansion[];
  readonly kind: SubjectKind;
  readonly referenceId: string;
  readonly endpointId: string;
  readonly url: string;
  readonly status: 'pending' | 'delivered' | 'dead';
  readonly deadReason: 'attempts_exhausted' | 'endpoint_gone' | 'endpoint_disabled' | 'endpoint_failing' | null;
  readonly endpointStatus: 'enabled' | 'disabled';
  readonly isEndpointDeleted: boolean;
  /** The first failed attempt since the endpoint's last success, and its next probe. */
  readonly failingSince: Date | null;
  readonly nextProbeAt: Date | null;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
  readonly attempts: readonly DeliveryAttemptRow[];
}

/** A page shows the last so many attempts; each cycle has 12. */
const MAX_ATTEMPTS = 50;

/** A delivery of a merchant with its attempts in order; undefined if the merchant has no such delivery. */
export async function findDeliveryDetails(
  db: Queryable,
  merchantId: string,
  deliveryId: string,
): Promise<DeliveryDetailsRow | undefined> {
  const { rows } = await db.query<DeliveryDetailsRow>({
    name: 'find_delivery_details',
    text: `
      select delivery.id, about.event, about.body, about.kind, about.reference_id as "referenceId", endpoint.url,
        endpoint.id as "endpointId", endpoint.expand, endpoint.failing_since as "failingSince",
        endpoint.next_probe_at as "nextProbeAt", delivery.status,
        delivery.dead_reason as "deadReason", endpoint.status as "endpointStatus",
        endpoint.deleted_at is not null as "isEndpointDeleted", delivery.created_at as "createdAt",
        delivery.finished_at as "finishedAt",
        (select coalesce(json_agg(json_build_object('number', number, 'startedAt', iso_utc(started_at),
            'durationMs', duration_ms, 'statusCode', status_code, 'failure', failure,
            'responseExcerpt', response_excerpt) order by number), '[]')
          from (select number, started_at, duration_ms, status_code, failure, response_excerpt from webhook_attempts
            where delivery_id = delivery.id order by number desc limit ${MAX_ATTEMPTS}) attempt) as attempts
      from webhook_deliveries delivery
      join webhook_endpoints endpoint on endpoint.id = delivery.endpoint_id
      ${joinSubject(ALL_SUBJECT_TABLES, 'event.event, event.body')}
      where delivery.id = $2 and delivery.merchant_id = $1`,
    values: [merchantId, deliveryId],
  });
  return rows[0];
}
