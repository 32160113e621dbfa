import type { Queryable } from '../db/pool';
import { LEASE_SECONDS, type Delivery, type DeliveryStatus } from './deliveries';
import { FAILING_ENDPOINT, LONGEST_RETRY_AFTER_SECONDS } from './retry-policy';
import type { WebhookAttempt } from './send';

/** Why a delivery is dead. Each can be redelivered. */
export type DeadReason = 'tries_exhausted' | 'endpoint_gone' | 'endpoint_disabled' | 'endpoint_failing';

/** Why an endpoint is disabled: its receiver said 410, it failed for days, or an operator did it. */
export type DisabledReason = 'gone' | 'failing' | 'operator';

type DeliveryId = Pick<Delivery, 'deliveryId' | 'endpointId'>;

/*
 * Each statement writes the try into the log, its consequence into the delivery, and what it says about the endpoint,
 * together. Where both are changed the endpoint is locked first, then deliveries. Where PostgreSQL has to end one of two all the
 * same (a batch of successes that meets `markDead`), what it was about is left to its lease.
 */

/** What an endpoint is again after a success: whatever waits for it goes out. */
export const IS_WELL = 'consecutive_failures = 0, failing_since = null, retry_at = null';

/** The columns of `webhook_attempts` that say how a try went. */
const OF_A_TRY = 'started_at, duration_ms, status_code, failure, response_excerpt';

/** A try that succeeded. */
export interface Success {
  readonly delivery: DeliveryId;
  readonly attempt: WebhookAttempt;
}

/** Delivered, whatever they were before; their endpoints are well again. */
export async function recordDelivered(db: Queryable, successes: readonly Success[]): Promise<void> {
  const deliveries = successes.map(({ delivery }) => delivery);
  const attempts = successes.map(({ attempt }) => attempt);
  await db.query({
    name: 'record_webhook_delivered',
    text: `
      with success as (
        select * from unnest($1::uuid[], $2::timestamptz[], $3::integer[], $4::integer[], $5::text[], $6::text[])
          as success (delivery_id, ${OF_A_TRY})
      ),
      ill as (
        select id from webhook_endpoints where id = any ($7::uuid[]) and consecutive_failures > 0 order by id for update
      ),
      endpoint as (
        update webhook_endpoints set ${IS_WELL} where id in (select id from ill) returning id
      ),
      delivery as (
        update webhook_deliveries set attempts = attempts + 1, status = 'delivered', dead_reason = null,
          finished_at = coalesce(finished_at, now())
        from success
        -- Said twice, so that a plan of when the table was small does not read all of it.
        where id = any ($1) and id = success.delivery_id and (select count(*) from endpoint) >= 0
        returning success.*, attempts
      )
      insert into webhook_attempts (delivery_id, number, ${OF_A_TRY})
      select delivery_id, attempts, ${OF_A_TRY} from delivery`,
    values: [
      deliveries.map(({ deliveryId }) => deliveryId),
      attempts.map(({ startedAt }) => startedAt),
      attempts.map(({ durationMs }) => durationMs),
      attempts.map(({ statusCode }) => statusCode),
      attempts.map(({ failure }) => failure),
      attempts.map(({ responseExcerpt }) => responseExcerpt),
      [...new Set(deliveries.map(({ endpointId }) => endpointId))],
    ],
  });
}

/** What is to become of a delivery whose try failed, as far as that is up to the delivery. */
export interface Failure {
  /** The relay's tries do not count among the twelve, the workflow's do: it has the delivery from then on. */
  readonly by: 'relay' | 'workflow';
  /** Null: it is to be tried again. */
  readonly deadReason: Extract<DeadReason, 'tries_exhausted' | 'endpoint_gone'> | null;
}

export interface AfterFailure {
  /** The delivery's. */
  readonly status: DeliveryStatus;
  /** Of the endpoint: what is in the outbox waits there. */
  readonly isFailing: boolean;
}

/**
 * The try failed. A receiver that is gone has its endpoint disabled, and so has one that has failed for days. After too many
 * failures in a row its deliveries wait, and those that have waited for days are dead. Only the delivery itself is changed here:
 * `markDead` does the same to the others of the endpoint, in batches.
 */
export async function recordFailed(
  db: Queryable,
  { deliveryId, endpointId }: DeliveryId,
  attempt: WebhookAttempt,
  { by, deadReason }: Failure,
): Promise<AfterFailure> {
  const askedSeconds = Math.min(attempt.retryAfterSeconds ?? 0, LONGEST_RETRY_AFTER_SECONDS);
  const { rows } = await db.query<AfterFailure>({
    name: 'record_webhook_failed',
    text: `
      with endpoint as (
        update webhook_endpoints set
          consecutive_failures = consecutive_failures + 1,
          failing_since = coalesce(failing_since, now()),
          retry_at = ${NEXT_PROBE},
          status = case when ${IS_GIVEN_UP} then 'disabled' else status end,
          disabled_reason = case when status = 'disabled' then disabled_reason
            when $8 = 'endpoint_gone' then 'gone' when ${IS_GIVEN_UP} then 'failing' else disabled_reason end
        where id = $7
        returning id, status, retry_at is not null as is_failing, case
          when status = 'disabled' then 'infinity'
          when retry_at is not null then now() - ${seconds(longestQueueSeconds)}
          else '-infinity' end as buries_before
      ),
      verdict as (
        select endpoint.is_failing, case
          when $8::text is not null then $8
          when queued_at < endpoint.buries_before and ($9 = 'relay' or endpoint.status = 'disabled') then ${BURIAL}
          end as dead_reason
        from endpoint join webhook_deliveries delivery on delivery.id = $1 and delivery.status = 'pending'
        for update of delivery
      ),
      delivery as (
        update webhook_deliveries set
          attempts = attempts + 1,
          tries = tries + case $9 when 'workflow' then 1 else 0 end,
          status = case when verdict.dead_reason is not null then 'dead' else status end,
          dead_reason = coalesce(verdict.dead_reason, webhook_deliveries.dead_reason),
          finished_at = case when verdict.dead_reason is not null then now() else finished_at end,
          handed_over_at = case $9 when 'workflow' then coalesce(handed_over_at, now()) else handed_over_at end,
          -- Time for the hand-over, or back into the outbox.
          leased_until = case when verdict.is_failing then '-infinity' else now() + interval '${LEASE_SECONDS} seconds' end
        from (select) always left join verdict on true
        where id = $1
        returning id, attempts, status, coalesce(verdict.is_failing, false) as "isFailing"
      ),
      attempt as (
        insert into webhook_attempts (delivery_id, number, ${OF_A_TRY})
        select id, attempts, $2, $3, $4, $5, $6 from delivery
      )
      select status, "isFailing" from delivery`,
    values: [
      deliveryId,
      attempt.startedAt,
      attempt.durationMs,
      attempt.statusCode,
      attempt.failure,
      attempt.responseExcerpt,
      endpointId,
      deadReason,
      by,
      askedSeconds,
    ],
  });
  if (!rows[0]) throw new Error(`There is no webhook delivery ${deliveryId}`);
  return rows[0];
}

/** Its retries are a workflow's from here on; the relay's try was the first of them. */
export async function recordHandedOver(db: Queryable, deliveryId: string): Promise<void> {
  await db.query({
    name: 'record_webhook_handed_over',
    text: `update webhook_deliveries set handed_over_at = now(), tries = greatest(tries, 1)
      where id = $1 and status = 'pending'`,
    values: [deliveryId],
  });
}

/** The endpoint of a delivery in its retries was disabled: no more attempt is made. */
export async function recordEndpointDisabled(db: Queryable, deliveryId: string): Promise<void> {
  await db.query({
    name: 'record_webhook_endpoint_disabled',
    text: `update webhook_deliveries set status = 'dead', dead_reason = 'endpoint_disabled', finished_at = now()
      where id = $1 and status = 'pending'`,
    values: [deliveryId],
  });
}

function seconds(count: number): string {
  return `interval '${count} seconds'`;
}

const {
  afterFailures,
  probeAfterPart,
  shortestProbeWaitSeconds,
  longestProbeWaitSeconds,
  longestQueueSeconds,
  disabledAfterSeconds,
} = FAILING_ENDPOINT;

/** A time that has come is followed by another one; one that has not stays, however often it fails until then. */
const NEXT_PROBE = `
  case when consecutive_failures + 1 >= ${afterFailures} then
    case when retry_at > now() then retry_at
      else now() + greatest(
        least((now() - coalesce(failing_since, now())) * ${probeAfterPart}, ${seconds(longestProbeWaitSeconds)}),
        ${seconds(shortestProbeWaitSeconds)}, make_interval(secs => $10))
    end
  end`;

const IS_GIVEN_UP = `
  ($8 = 'endpoint_gone' or consecutive_failures + 1 >= ${afterFailures} and failing_since < now() - ${seconds(disabledAfterSeconds)})`;

const BURIAL = "case endpoint.status when 'disabled' then 'endpoint_disabled' else 'endpoint_failing' end";
