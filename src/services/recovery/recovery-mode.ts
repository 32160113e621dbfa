import { setTimeout as sleep } from 'node:timers/promises';
import type { Queryable } from '../../db/connection/pool';
import { STATUS } from '../../db/queries/payment-indexes';
import * as records from '../../db/records/recovery-mode';
import { withAudit } from '../audit/audit';
import type { OperatorContext } from '../payments/payment-actions';
import { wakeWorkflows } from '../payments/wake-workflows';

/** Then no worker has an older reading (`RecoveryWatch`). */
const READING_AGE_MS = 2_000;
const TARGET = 'installation';

/** Begins recovery mode: within 2 s no worker settles or refunds. If it is on already, who began it first stays. */
export function beginRecoveryMode(
  { db, by }: Pick<OperatorContext, 'db' | 'by'>,
  note: string,
): Promise<records.RecoveryMode> {
  return withAudit(db, by, { action: 'recovery.begin', target: TARGET, note }, async () => {
    await records.beginRecovery(db, { by: by.name, reason: note });
    return records.readRecoveryMode(db);
  });
}

/**
 * Ends recovery mode, records PostgreSQL's timeline, and wakes the workflows that were deferred. A workflow that
 * misses the signal repeats its step within a day. A repeated call wakes those that still wait.
 * @returns how many workflows were woken
 */
export async function endRecoveryMode({ db, workflows, by }: OperatorContext, note: string): Promise<number> {
  await withAudit(db, by, { action: 'recovery.end', target: TARGET, note }, () => records.endRecovery(db));
  await sleep(READING_AGE_MS);
  const deferred = await listDeferred(db);
  await wakeWorkflows(workflows, deferred);
  return deferred.length;
}

/** Payments whose settlement or refund is due. */
async function listDeferred(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from payments
       where ${STATUS} = 'paid' and settlement_kind = 'automatic' and settlement_due_at <= now()
     union all
     select id from payments where ${STATUS} = 'refund_processing'`,
  );
  return rows.map(({ id }) => id);
}
