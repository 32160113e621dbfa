import { setTimeout as sleep } from 'node:timers/promises';
import type { Queryable } from '../../db/connection/pool';
import * as records from '../../db/operations/recovery-mode';
import { STATUS } from '../../db/payments/payment-indexes';
import { actorText, type ActorText, type OperatorActor } from '../../domain/actor';
import { DeclaredAction } from '../../domain/declared-action';
import { ConflictError } from '../../errors';
import { withAudit, type AuditDependencies } from '../audit/audit';
import type { PaymentActionDependencies } from '../payments/actions/operator-action';
import { wakeWorkflows } from '../payments/wake-workflows';
import { FULL_PERIOD_DAYS, RECONCILE } from '../reconciliation/reconcile-all';
import { RECOVER } from './recover';

/** After this time no worker has an older reading (`RecoveryWatch`). */
const READING_AGE_MS = 2_000;
const TARGET = 'installation';

export const BEGIN_RECOVERY = new DeclaredAction('recovery.begin');

/** Begins recovery mode: within 2 s no worker settles or refunds. If it is on already, who began it first stays. */
export function beginRecoveryMode(
  dependencies: AuditDependencies,
  actor: OperatorActor,
  note: string,
): Promise<records.RecoveryMode> {
  const { db } = dependencies;
  return withAudit(dependencies, actor, { action: BEGIN_RECOVERY, target: TARGET, note }, async () => {
    await records.beginRecovery(db, { by: actorText(actor), reason: note });
    return records.readRecoveryMode(db);
  });
}

export const END_RECOVERY = new DeclaredAction('recovery.end');

interface RecoveryEnd {
  readonly note: string;
  /** PostgreSQL has everything: a planned switch, or the fail-over to a synchronous standby. */
  readonly hasLostNothing: boolean;
}

/**
 * Ends recovery mode, records PostgreSQL's timeline, and wakes the workflows that were deferred. A workflow that
 * misses the signal repeats its step within a day. A repeated call wakes those that still wait.
 * @throws ConflictError `not_recovered` if PostgreSQL may still be behind
 * @returns how many workflows were woken
 */
export async function endRecoveryMode(
  dependencies: PaymentActionDependencies,
  actor: OperatorActor,
  { note, hasLostNothing }: RecoveryEnd,
): Promise<number> {
  const { db, workflows } = dependencies;
  await withAudit(dependencies, actor, { action: END_RECOVERY, target: TARGET, note }, async () => {
    const mode = await records.readRecoveryMode(db);
    if (!hasLostNothing) await requireRecovered(db, mode, actorText(actor));
    if (await records.endRecovery(db, mode.timeline)) return;
    throw new ConflictError(
      'not_recovered',
      'PostgreSQL was promoted or restored meanwhile: begin the recovery again.',
    );
  });
  await sleep(READING_AGE_MS);
  const deferred = await listDeferred(db);
  await wakeWorkflows(workflows, deferred);
  return deferred.length;
}

/**
 * Without a recovery the payments that PostgreSQL has lost would not be compared with the provider. If no worker has
 * seen the other timeline yet, the mode begins now: what was recovered after an earlier restore does not count.
 */
async function requireRecovered(db: Queryable, mode: records.RecoveryMode, by: ActorText): Promise<void> {
  if (!mode.isOn) return;
  await records.beginIfOnOtherTimeline(db, mode, by);
  const steps = { recover: RECOVER.name, reconcile: RECONCILE.name, fullPeriodDays: FULL_PERIOD_DAYS };
  const { isRecovered, isReconciled, openExceptions } = await records.readRecoveryProgress(db, steps);
  const left = [
    ...(isRecovered ? [] : ['no recovery has succeeded since the mode began']),
    ...(isReconciled ? [] : ['no full reconciliation has succeeded since the mode began']),
    ...(openExceptions === 0 ? [] : [`${openExceptions} of its exceptions are open`]),
  ];
  if (left.length === 0) return;
  throw new ConflictError('not_recovered', `PostgreSQL may be behind the provider: ${left.join(', ')}.`);
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
