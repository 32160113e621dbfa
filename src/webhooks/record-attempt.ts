import type { Queryable } from '../db/pool';
import { LEASE_SECONDS, type Delivery, type DeliveryStatus } from './outbox';
import { CIRCUIT_BREAKER, MAX_RETRY_AFTER_SECONDS } from './retry-policy';
import type { WebhookAttempt } from './send';

/** Why a delivery is dead. Each can be redelivered. */
export type DeadReason = 'attempts_exhausted' | 'endpoint_gone' | 'endpoint_disabled' | 'endpoint_failing';

/** Why an endpoint is disabled: its receiver said 410, it failed for days, or an operator did it. */
export type DisabledReason = 'gone' | 'failing' | 'operator';

type DeliveryId = Pick<Delivery, 'deliveryId' | 'endpointId'>;

/*
 * Each statement writes the try into the log, its consequence into the delivery, and what it says about the endpoint,
 * together. Where both are changed the endpoint is locked first, then deliveries. Where PostgreSQL has to end one of two all the
 * same (a batch of successes that meets `markDead`), what it was about is left to its lease.
 */

/** What an endpoint is again after a success: whatever waits for it goes out. */
export const RESET_HEALTH = 'consecutive_failures = 0, failing_since = null, next_probe_at = null';

/** The columns of `webhook_attempts` that say how a try went. */
const ATTEMPT_COLUMNS = 'started_at, duration_ms, status_code, failure, response_excerpt';

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
          as success (delivery_id, ${ATTEMPT_COLUMNS})
      ),
      ill as (
        select id from webhook_endpoints where id = any ($7::uuid[]) and consecutive_failures > 0 order by id for update
      ),
      endpoint as (
        update webhook_endpoints set ${RESET_HEALTH} where id in (select id from ill) returning id
      ),
      delivery as (
        update webhook_deliveries set attempts_total = attempts_total + 1, status = 'delivered', dead_reason = null,
          finished_at = coalesce(finished_at, now())
        from success
        -- Said twice, so that a plan of when the table was small does not read all of it.
        where id = any ($1) and id = success.delivery_id and (select count(*) from endpoint) >= 0
        returning success.*, attempts_total
      )
      insert into webhook_attempts (delivery_id, number, ${ATTEMPT_COLUMNS})
      select delivery_id, attempts_total, ${ATTEMPT_COLUMNS} from delivery`,
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
  readonly deadReason: Extract<DeadReason, 'attempts_exhausted' | 'endpoint_gone'> | null;
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
  const requestedSeconds = Math.min(attempt.retryAfterSeconds ?? 0, MAX_RETRY_AFTER_SECONDS);
  const { rows } = await db.query<AfterFailure>({
    name: 'record_webhook_failed',
    text: `
      with endpoint as (
        update webhook_endpoints set
          consecutive_failures = consecutive_failures + 1,
          failing_since = coalesce(failing_since, now()),
          next_probe_at = ${NEXT_PROBE},
          status = case when ${SHOULD_DISABLE} then 'disabled' else status end,
          disabled_reason = case when status = 'disabled' then disabled_reason
            when $8 = 'endpoint_gone' then 'gone' when ${SHOULD_DISABLE} then 'failing' else disabled_reason end
        where id = $7
        returning id, status, next_probe_at is not null as is_failing, case
          when status = 'disabled' then 'infinity'
          when next_probe_at is not null then now() - ${seconds(maxQueueSeconds)}
          else '-infinity' end as buries_before
      ),
      verdict as (
        select endpoint.is_failing, case
          when $8::text is not null then $8
          when queued_at < endpoint.buries_before and ($9 = 'relay' or endpoint.status = 'disabled') then ${DEAD_REASON_SQL}
          end as dead_reason
        from endpoint join webhook_deliveries delivery on delivery.id = $1 and delivery.status = 'pending'
        for update of delivery
      ),
      delivery as (
        update webhook_deliveries set
          attempts_total = attempts_total + 1,
          attempts_in_cycle = attempts_in_cycle + case $9 when 'workflow' then 1 else 0 end,
          status = case when verdict.dead_reason is not null then 'dead' else status end,
          dead_reason = coalesce(verdict.dead_reason, webhook_deliveries.dead_reason),
          finished_at = case when verdict.dead_reason is not null then now() else finished_at end,
          retry_workflow_started_at = case $9 when 'workflow' then coalesce(retry_workflow_started_at, now()) else retry_workflow_started_at end,
          -- Time for the hand-over, or back into the outbox.
          leased_until = case when verdict.is_failing then '-infinity' else now() + interval '${LEASE_SECONDS} seconds' end
        from (select) always left join verdict on true
        where id = $1
        returning id, attempts_total, status, coalesce(verdict.is_failing, false) as "isFailing"
      ),
      attempt as (
        insert into webhook_attempts (delivery_id, number, ${ATTEMPT_COLUMNS})
        select id, attempts_total, $2, $3, $4, $5, $6 from delivery
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
      requestedSeconds,
    ],
  });
  if (!rows[0]) throw new Error(`There is no webhook delivery ${deliveryId}`);
  return rows[0];
}

/** Its retries are a workflow's from here on; the relay's try was the first of them. */
export async function recordRetryWorkflowStarted(db: Queryable, deliveryId: string): Promise<void> {
  await db.query({
    name: 'record_webhook_handed_over',
    text: `update webhook_deliveries set retry_workflow_started_at = now(), attempts_in_cycle = greatest(attempts_in_cycle, 1)
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
  failureThreshold,
  probeDelayFraction,
  minProbeDelaySeconds,
  maxProbeDelaySeconds,
  maxQueueSeconds,
  disableAfterSeconds,
} = CIRCUIT_BREAKER;

/** A time that has come is followed by another one; one that has not stays, however often it fails until then. */
const NEXT_PROBE = `
  case when consecutive_failures + 1 >= ${failureThreshold} then
    case when next_probe_at > now() then next_probe_at
      else now() + greatest(
        least((now() - coalesce(failing_since, now())) * ${probeDelayFraction}, ${seconds(maxProbeDelaySeconds)}),
        ${seconds(minProbeDelaySeconds)}, make_interval(secs => $10))
    end
  end`;

const SHOULD_DISABLE = `
  ($8 = 'endpoint_gone' or consecutive_failures + 1 >= ${failureThreshold} and failing_since < now() - ${seconds(disableAfterSeconds)})`;

const DEAD_REASON_SQL = "case endpoint.status when 'disabled' then 'endpoint_disabled' else 'endpoint_failing' end";
