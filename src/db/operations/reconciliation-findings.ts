import type { Queryable } from '../connection/pool';

/** Runs are hourly. A comparison that is repeated sooner, by a retry or by an operator, counts as the same run. */
const SAME_RUN = "interval '30 minutes'";

/**
 * Records that the provider returned no determinate status of these payments in this run.
 * @returns the payments for which this is so in `runs` runs or more, in succession
 */
export async function noteIndeterminateOrders(
  db: Queryable,
  paymentIds: readonly string[],
  runs: number,
): Promise<ReadonlySet<string>> {
  if (paymentIds.length === 0) return new Set();
  const { rows } = await db.query<{ paymentId: string }>({
    name: 'note_indeterminate_orders',
    text: `
      with noted as (
        insert into indeterminate_orders as known (payment_id) select unnest($1::uuid[]) order by 1
        on conflict (payment_id) do update set
          run_count = known.run_count + case when known.last_run_at < now() - ${SAME_RUN} then 1 else 0 end,
          last_run_at = case when known.last_run_at < now() - ${SAME_RUN} then now() else known.last_run_at end
        returning payment_id, run_count
      )
      select payment_id as "paymentId" from noted where run_count >= $2`,
    values: [paymentIds, runs],
  });
  return new Set(rows.map(({ paymentId }) => paymentId));
}

/** A payment of a provider account that was compared, and has no break. */
export interface CleanPayment {
  readonly paymentId: string;
  readonly referenceId: string;
}

/**
 * Closes the exceptions that earlier runs opened about these payments. That of a webhook delivery without its retry
 * workflow stays open until the delivery is final.
 */
export async function closeReconciled(
  db: Queryable,
  accountId: string,
  payments: readonly CleanPayment[],
): Promise<void> {
  if (payments.length === 0) return;
  await db.query({
    name: 'close_reconciled',
    text: `
      with determinate as (delete from indeterminate_orders where payment_id = any ($1::uuid[]))
      select close_exceptions('reconciliation', $3, array(
        select reference_id from unnest($1::uuid[], $2::text[]) clean (payment_id, reference_id)
        where not exists (
          select from webhook_deliveries delivery
          where delivery.payment_id = clean.payment_id and delivery.status = 'pending'
            and delivery.retry_workflow_started_at is not null
        )
      ))`,
    values: [payments.map(({ paymentId }) => paymentId), payments.map(({ referenceId }) => referenceId), accountId],
  });
}

/** The reference of the exception about a part of a run that failed. */
export function failedRunReference(accountId: string | null): string {
  return accountId === null ? 'reconciliation' : `reconciliation-${accountId}`;
}

/** Closes the exception about a part that failed in an earlier run, once a run has compared all of it. */
export async function closeFailedRun(db: Queryable, accountId: string | null): Promise<void> {
  await db.query({
    name: 'close_failed_run',
    text: "select close_exceptions('reconciliation', $1, array[$2])",
    values: [accountId, failedRunReference(accountId)],
  });
}

/** Whether the reference of an exception is the id of a workflow of which PostgreSQL has no row. */
export const IS_WORKFLOW_ID = "exceptions.reference_id ~ '^(payment|payout)-[0-9a-f-]{36}$'";

/** The workflows with this prefix that have an open exception because PostgreSQL has no row of theirs. */
export async function listOpenOrphans(db: Queryable, workflowIdPrefix: string): Promise<string[]> {
  const { rows } = await db.query<{ workflowId: string }>({
    name: 'list_open_orphans',
    text: `select reference_id as "workflowId" from exceptions
      where kind = 'reconciliation' and provider_account_id is null and resolved_at is null
        and starts_with(reference_id, $1)`,
    values: [workflowIdPrefix],
  });
  return rows.map(({ workflowId }) => workflowId);
}

/** Closes the exceptions of workflows that have their row again. */
export async function closeOrphans(db: Queryable, workflowIds: readonly string[]): Promise<void> {
  await db.query({
    name: 'close_orphans',
    text: "select close_exceptions('reconciliation', null, $1)",
    values: [workflowIds],
  });
}
