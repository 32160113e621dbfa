import type { Queryable } from '../db/connection/pool';
import { bindStatement, prepareStatement } from '../db/connection/statement';
import { increment, observeDuration } from '../observability/metrics';
import type { DeliveryAttempt } from './attempt-delivery';
import { LEASE_SECONDS, type Delivery, type DeliveryStatus } from './outbox';
import { CIRCUIT_BREAKER, MAX_RETRY_AFTER_SECONDS } from './retry-policy';
import type { WebhookAttempt } from './send';

/** Why a delivery is dead. Each can be redelivered. */
export type DeadReason = 'attempts_exhausted' | 'endpoint_gone' | 'endpoint_disabled' | 'endpoint_failing';

/** Why an endpoint is disabled: its receiver returned 410, it failed for days, or an operator or the merchant acted. */
export type DisabledReason = 'gone' | 'failing' | 'operator' | 'merchant';

type DeliveryId = Pick<Delivery, 'deliveryId' | 'endpointId'>;

/*
 * Each statement writes the attempt, its effect on the delivery and its effect on the endpoint together. A statement
 * that changes both locks the endpoint first, then the deliveries. PostgreSQL may still abort one of two statements:
 * a batch of successes can deadlock with `markDead`. The deliveries of the aborted statement are retried after their
 * lease.
 */

/** A success resets the health of the endpoint: all its pending deliveries can be claimed again. */
export const RESET_HEALTH = 'consecutive_failures = 0, failing_since = null, next_probe_at = null';

/** The columns of `webhook_attempts` with the result of an attempt. */
const ATTEMPT_COLUMNS = 'started_at, duration_ms, status_code, failure, response_excerpt';

export interface Success {
  readonly delivery: DeliveryId;
  readonly attempt: WebhookAttempt;
}

/** Records successful attempts. The deliveries become `delivered` even if they were dead. */
export async function recordDelivered(db: Queryable, successes: readonly Success[]): Promise<void> {
  const deliveries = successes.map(({ delivery }) => delivery);
  const attempts = successes.map(({ attempt }) => attempt);
  await db.query({
    name: 'record_delivered',
    text: `
      with success as (
        select * from unnest($1::uuid[], $2::timestamptz[], $3::integer[], $4::integer[], $5::text[], $6::text[])
          as success (delivery_id, ${ATTEMPT_COLUMNS})
      ),
      failing as (
        -- A transition that inserts deliveries has locked their endpoints for their keys, in another order.
        select id from webhook_endpoints where id = any ($7::uuid[]) and consecutive_failures > 0
        order by id for no key update
      ),
      endpoint as (
        update webhook_endpoints set ${RESET_HEALTH} where id in (select id from failing) returning id
      ),
      delivery as (
        update webhook_deliveries set attempts_total = attempts_total + 1, status = 'delivered', dead_reason = null,
          finished_at = coalesce(finished_at, now())
        from success
        -- Two conditions on the id: a plan from when the table was small would read all of it.
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
  increment('lunas_webhook_deliveries_total', { outcome: 'delivered' }, successes.length);
  for (const { durationMs } of attempts) {
    observeDuration('lunas_webhook_attempt_duration_seconds', { outcome: 'delivered' }, durationMs);
  }
}

const {
  failureThreshold,
  probeDelayFraction,
  minProbeDelaySeconds,
  maxProbeDelaySeconds,
  maxQueueSeconds,
  disableAfterSeconds,
} = CIRCUIT_BREAKER;

/** Consecutive failures of the endpoint, with this attempt: an own fault of Lunas is none of the endpoint. */
const FAILURES = 'consecutive_failures + case when :isOwnFault then 0 else 1 end';

/** A probe that is due is followed by the next one. One that is not due keeps its time, whatever fails until then. */
const NEXT_PROBE = `case
      when ${FAILURES} < ${failureThreshold} then null
      when next_probe_at > now() then next_probe_at
      else now() + greatest(
        least((now() - coalesce(failing_since, now())) * ${probeDelayFraction}, ${seconds(maxProbeDelaySeconds)}),
        ${seconds(minProbeDelaySeconds)}, make_interval(secs => :retryAfterSeconds)) end`;

const SHOULD_DISABLE = `:deadReason = 'endpoint_gone'
        or not :isOwnFault and ${FAILURES} >= ${failureThreshold}
          and failing_since < now() - ${seconds(disableAfterSeconds)}`;

/**
 * The statement of a failed attempt. It decides first what becomes of the endpoint, then of the delivery.
 *
 * | Endpoint                                             | becomes                                            |
 * | ---------------------------------------------------- | -------------------------------------------------- |
 * | the receiver returned 410                            | disabled, `gone`                                   |
 * | 20 consecutive failures, failing for 120 hours       | disabled, `failing`                                |
 * | 20 consecutive failures                              | failing: `next_probe_at` is set                    |
 * | otherwise                                            | unchanged                                          |
 *
 * An own fault of Lunas is no failure of the endpoint. It only moves a probe that was due.
 *
 * | Delivery, if it is pending                           | becomes                                            |
 * | ---------------------------------------------------- | -------------------------------------------------- |
 * | `deadReason` is given                                | dead, for that reason                              |
 * | the endpoint is disabled                             | dead, `endpoint_disabled`                          |
 * | failing, the relay's attempt, queued for 72 hours    | dead, `endpoint_failing`                           |
 * | failing                                              | pending without a lease: it waits in the outbox    |
 * | otherwise                                            | pending under a lease: the retry workflow starts   |
 *
 * An attempt of a retry workflow counts in its cycle of 12; `recordRetryWorkflowStarted` counts the relay's.
 */
export const RECORD_FAILED = prepareStatement(
  'record_failed',
  [
    'deliveryId',
    'startedAt',
    'durationMs',
    'statusCode',
    'failure',
    'responseExcerpt',
    'endpointId',
    'deadReason',
    'by',
    'retryAfterSeconds',
    'isOwnFault',
  ],
  `
with endpoint as (
  update webhook_endpoints set
    consecutive_failures = ${FAILURES},
    failing_since = coalesce(failing_since, case when not :isOwnFault then now() end),
    next_probe_at = ${NEXT_PROBE},
    status = case
      when ${SHOULD_DISABLE}
      then 'disabled' else status end,
    disabled_reason = case
      when status = 'disabled' then disabled_reason
      when :deadReason = 'endpoint_gone' then 'gone'
      when ${SHOULD_DISABLE}
      then 'failing' else disabled_reason end
  where id = :endpointId
  returning id, status, next_probe_at is not null as is_failing, case
    when status = 'disabled' then 'infinity'
    when next_probe_at is not null then now() - ${seconds(maxQueueSeconds)}
    else '-infinity' end as dead_before
),
decision as (
  select endpoint.is_failing, case
    when :deadReason::text is not null then :deadReason
    when queued_at < endpoint.dead_before and (:by = 'relay' or endpoint.status = 'disabled')
    then case endpoint.status when 'disabled' then 'endpoint_disabled' else 'endpoint_failing' end
    end as dead_reason
  from endpoint join webhook_deliveries delivery on delivery.id = :deliveryId and delivery.status = 'pending'
  for update of delivery
),
delivery as (
  update webhook_deliveries set
    attempts_total = attempts_total + 1,
    attempts_in_cycle = attempts_in_cycle + case :by when 'workflow' then 1 else 0 end,
    status = case when decision.dead_reason is not null then 'dead' else status end,
    dead_reason = coalesce(decision.dead_reason, webhook_deliveries.dead_reason),
    finished_at = case when decision.dead_reason is not null then now() else finished_at end,
    retry_workflow_started_at =
      case :by when 'workflow' then coalesce(retry_workflow_started_at, now()) else retry_workflow_started_at end,
    leased_until = case when decision.is_failing then '-infinity' else now() + ${seconds(LEASE_SECONDS)} end
  from (select) always left join decision on true
  where id = :deliveryId
  returning id, attempts_total, status, coalesce(decision.is_failing, false) as "isFailing",
    decision.dead_reason is not null as "becameDead"
),
attempt as (
  insert into webhook_attempts (delivery_id, number, ${ATTEMPT_COLUMNS})
  select id, attempts_total, :startedAt, :durationMs, :statusCode, :failure, :responseExcerpt from delivery
)
select status, "isFailing", "becameDead" from delivery`,
);

/** Which component made the attempt, and what it concludes from the attempt alone. */
export interface Failure {
  /** Attempts of the workflow count in the cycle of 12. Its first attempt also marks the delivery as its own. */
  readonly by: 'relay' | 'workflow';
  /** Null: the delivery is retried. */
  readonly deadReason: Extract<DeadReason, 'attempts_exhausted' | 'endpoint_gone'> | null;
}

export interface AfterFailure {
  /** The status of the delivery. */
  readonly status: DeliveryStatus;
  /** The endpoint is failing: its deliveries stay in the outbox, and only probes are sent. */
  readonly isFailing: boolean;
}

/**
 * Records a failed attempt. It changes only this delivery; `markDead` changes the others of the endpoint, in batches.
 */
export async function recordFailed(
  db: Queryable,
  delivery: DeliveryId,
  { retryAfterSeconds, ...attempt }: DeliveryAttempt,
  { by, deadReason }: Failure,
): Promise<AfterFailure> {
  const { deliveryId, endpointId } = delivery;
  const limitedSeconds = Math.min(retryAfterSeconds ?? 0, MAX_RETRY_AFTER_SECONDS);
  const values = { ...attempt, deliveryId, endpointId, by, deadReason, retryAfterSeconds: limitedSeconds };
  const { rows } = await db.query<AfterFailure & { becameDead: boolean }>(bindStatement(RECORD_FAILED, values));
  if (!rows[0]) throw new Error(`There is no webhook delivery ${deliveryId}`);
  const { becameDead, ...result } = rows[0];
  observeDuration('lunas_webhook_attempt_duration_seconds', { outcome: 'failed' }, attempt.durationMs);
  // `markDead` has counted a delivery that became dead during the attempt.
  if (becameDead) increment('lunas_webhook_deliveries_total', { outcome: 'dead' });
  else if (result.status === 'pending') increment('lunas_webhook_deliveries_total', { outcome: 'retried' });
  return result;
}

/** The relay's attempt is the first of the cycle; the retry workflow makes the others. */
export async function recordRetryWorkflowStarted(db: Queryable, deliveryId: string): Promise<void> {
  await db.query({
    name: 'record_retry_workflow_started',
    text: `update webhook_deliveries
      set retry_workflow_started_at = now(), attempts_in_cycle = greatest(attempts_in_cycle, 1)
      where id = $1 and status = 'pending'`,
    values: [deliveryId],
  });
}

/** The endpoint was disabled while a retry workflow had the delivery: there are no more attempts. */
export async function recordEndpointDisabled(db: Queryable, deliveryId: string): Promise<void> {
  const { rowCount } = await db.query({
    name: 'record_endpoint_disabled',
    text: `update webhook_deliveries set status = 'dead', dead_reason = 'endpoint_disabled', finished_at = now()
      where id = $1 and status = 'pending'`,
    values: [deliveryId],
  });
  increment('lunas_webhook_deliveries_total', { outcome: 'dead' }, rowCount ?? 0);
}

function seconds(count: number): string {
  return `interval '${count} seconds'`;
}
