import type { ActorText } from '../../domain/actor';
import type { Queryable } from '../connection/pool';
import { IS_WORKFLOW_ID } from './reconciliation-findings';

const BY: ActorText = 'operator';
const NOTE = 'a recovery repaired it';

/**
 * What a reconciliation found lost, or late without its workflow, and a recovery restores. A payment that is late
 * nevertheless is a case by itself, and the next reconciliation opens its exception again.
 */
const OPEN_LOSSES = "kind = 'reconciliation' and cause in ('lost', 'overdue') and resolved_at is null";

/** A workflow without a row may be older than those that the recovery has compared. */
const HAS_ROW = `case when ${IS_WORKFLOW_ID}
  then exists (select from payments where id = right(exceptions.reference_id, 36)::uuid)
    or exists (select from payouts where id = right(exceptions.reference_id, 36)::uuid)
  else true end`;

/**
 * Closes the exceptions of what a recovery of everything has restored.
 * @param startedAt what was found lost after that stays open
 * @param failedIds the payments, payouts and deliveries that were not recovered
 */
export async function closeRecovered(db: Queryable, startedAt: Date, failedIds: readonly string[]): Promise<void> {
  // The reference of a workflow without a row ends with the id of its payment or payout.
  await db.query({
    name: 'close_recovered',
    text: `update exceptions set resolved_at = now(), resolved_by = $3, note = $4
      where ${OPEN_LOSSES} and opened_at <= $1
        and (payment_id is not null or ${HAS_ROW})
        and right(reference_id, 36) <> all ($2) and coalesce(payment_id::text, '') <> all ($2)
        and not exists (
          select from payouts where payouts.reference_id = exceptions.reference_id and id::text = any ($2)
        ) and not exists (
          select from webhook_deliveries failed left join payouts on payouts.id = failed.payout_id
          where failed.id = any ($2::uuid[])
            and (failed.payment_id = exceptions.payment_id or payouts.reference_id = exceptions.reference_id)
        )`,
    values: [startedAt, failedIds, BY, NOTE],
  });
}

/** Closes the exceptions of one payment or payout that was recovered. @returns how many */
export async function closeRecoveredOf(db: Queryable, references: readonly string[]): Promise<number> {
  const { rowCount } = await db.query({
    name: 'close_recovered_of',
    text: `update exceptions set resolved_at = now(), resolved_by = $2, note = $3
      where ${OPEN_LOSSES} and reference_id = any ($1)`,
    values: [references, BY, NOTE],
  });
  return rowCount ?? 0;
}
