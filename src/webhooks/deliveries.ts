import type { Queryable } from '../db/pool';
import type { Sealer } from '../sealing';
import type { OutgoingWebhook, WebhookAttempt } from './send';

/** A relay that dies gives its deliveries back after this long; longer than any try takes. */
const LEASE_SECONDS = 30;

/** How far a claim looks ahead; an endpoint with more than this waiting does not hide the others for long. */
const LOOK_AHEAD = 500;

/** A delivery as its sender needs it, with what an operator finds it by. */
export interface Delivery extends OutgoingWebhook {
  readonly endpointId: string;
  readonly merchantId: string;
  readonly paymentId: string;
  readonly referenceId: string;
  readonly status: 'pending' | 'delivered' | 'dead';
  /** Tries so far: those that are in the log. */
  readonly attempts: number;
}

interface DeliveryRow extends Omit<Delivery, 'secrets'> {
  readonly sealedSecrets: readonly string[];
}

const DELIVERY_COLUMNS = `
  delivery.id as "deliveryId", delivery.endpoint_id as "endpointId", delivery.merchant_id as "merchantId",
  delivery.payment_id as "paymentId", delivery.status, delivery.attempts, payment.reference_id as "referenceId", event.event, event.body,
  endpoint.url,
  array (
    select sealed_secret from webhook_secrets secret
    where secret.endpoint_id = endpoint.id and (secret.expires_at is null or secret.expires_at > now())
    order by secret.created_at desc
  ) as "sealedSecrets"`;

const DELIVERY_JOINS = `
  join webhook_events event
    on event.payment_id = delivery.payment_id and event.payment_version = delivery.payment_version
  join webhook_endpoints endpoint on endpoint.id = delivery.endpoint_id
  join payments payment on payment.id = delivery.payment_id`;

export interface ClaimBounds {
  readonly most: number;
  readonly mostPerEndpoint: number;
  /** Endpoints that have as much under way as they may. */
  readonly busyEndpoints: readonly string[];
}

/** Takes due deliveries for their first try, oldest first, under a lease that no other relay can take before it ends. */
export async function claimDeliveries(db: Queryable, sealer: Sealer, bounds: ClaimBounds): Promise<Delivery[]> {
  const { rows } = await db.query<DeliveryRow>({
    name: 'claim_deliveries',
    text: `
      with waiting as (
        select id, endpoint_id, created_at from webhook_deliveries
        where status = 'pending' and handed_over_at is null and leased_until <= now() and endpoint_id <> all ($3)
        order by created_at limit ${LOOK_AHEAD}
      ),
      placed as (
        select id, row_number() over (partition by endpoint_id order by created_at) as place from waiting
      ),
      due as (
        select delivery.id from webhook_deliveries delivery join placed using (id)
        where placed.place <= $2
          and delivery.status = 'pending' and delivery.handed_over_at is null and delivery.leased_until <= now()
        limit $1 for update of delivery skip locked
      ),
      delivery as (
        update webhook_deliveries set leased_until = now() + interval '${LEASE_SECONDS} seconds'
        from due where webhook_deliveries.id = due.id
        returning webhook_deliveries.*
      )
      select ${DELIVERY_COLUMNS} from delivery ${DELIVERY_JOINS} order by delivery.created_at`,
    values: [bounds.most, bounds.mostPerEndpoint, bounds.busyEndpoints],
  });
  return rows.map((row) => openSecrets(row, sealer));
}

export async function findDelivery(db: Queryable, sealer: Sealer, deliveryId: string): Promise<Delivery> {
  const { rows } = await db.query<DeliveryRow>({
    name: 'find_delivery',
    text: `select ${DELIVERY_COLUMNS} from webhook_deliveries delivery ${DELIVERY_JOINS} where delivery.id = $1`,
    values: [deliveryId],
  });
  if (!rows[0]) throw new Error(`There is no webhook delivery ${deliveryId}`);
  return openSecrets(rows[0], sealer);
}

function openSecrets({ sealedSecrets, ...delivery }: DeliveryRow, sealer: Sealer): Delivery {
  return { ...delivery, secrets: sealedSecrets.map((sealed) => sealer.open(sealed, 'webhook-secret')) };
}

/** What a try leaves behind: done, still to be tried, in the hands of its workflow, or given up for a reason. */
export type AfterTry =
  { readonly becomes: 'delivered' | 'pending' | 'handed_over' } | { readonly becomes: 'dead'; readonly reason: string };

/** Writes a try into the log and its consequence into the delivery, together. A delivery that is done stays so. */
export async function recordAttempt(
  db: Queryable,
  deliveryId: string,
  attempt: WebhookAttempt,
  after: AfterTry,
): Promise<void> {
  await db.query({
    name: 'record_webhook_attempt',
    text: `
      with delivery as (
        update webhook_deliveries set
          attempts = attempts + 1,
          status = case when status <> 'pending' or $7 = 'handed_over' then status else $7 end,
          dead_reason = case when status = 'pending' then $8 else dead_reason end,
          finished_at = case when status = 'pending' and $7 in ('delivered', 'dead') then now() else finished_at end,
          handed_over_at = case when $7 = 'handed_over' then now() else handed_over_at end
        where id = $1
        returning id, attempts
      )
      insert into webhook_attempts
        (delivery_id, number, started_at, duration_ms, status_code, failure, response_excerpt)
      select id, attempts, $2, $3, $4, $5, $6 from delivery`,
    values: [
      deliveryId,
      attempt.startedAt,
      attempt.durationMs,
      attempt.statusCode,
      attempt.failure,
      attempt.responseExcerpt,
      after.becomes,
      after.becomes === 'dead' ? after.reason : null,
    ],
  });
}
