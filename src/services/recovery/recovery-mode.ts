import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Queryable } from '../../db/connection/pool';
import * as records from '../../db/operations/recovery-mode';
import { STATUS } from '../../db/payments/payment-indexes';
import { actorText, type ActorText, type OperatorActor } from '../../domain/actor';
import { ConflictError } from '../../errors';
import type { AuditDependencies } from '../audit/audit';
import { ofInstallation } from '../operations/of-installation';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import { requireDone } from '../operations/require-done';
import type { PaymentActionDependencies } from '../payments/actions/operator-action';
import { wakeWorkflows } from '../payments/wake-workflows';
import { FULL_PERIOD_DAYS, reconcileNow } from '../reconciliation/reconcile-all';
import { recoverAll } from './run-recovery';

/** After this time no worker has an older reading (`RecoveryWatch`). */
const READING_AGE_MS = 2_000;
const onMode = {
  ...ofInstallation,
  load: (_needs: AuditDependencies) => Promise.resolve(null),
  target: () => 'installation',
} as const;

/** Begins recovery mode: within 2 s no worker settles or refunds. If it is on already, who began it first stays. */
export const beginRecovery = new Operation({
  name: 'recovery.begin',
  ...onMode,
  input: z.object({}),
  async perform({ needs: { db }, by, note = '' }) {
    await records.beginRecovery(db, { by: actorText(by), reason: note });
    return done(await records.readRecoveryMode(db));
  },
});

/** Ends recovery mode, and records PostgreSQL's timeline. `perform` throws a ConflictError `not_recovered`. */
export const endRecovery = new Operation({
  name: 'recovery.end',
  ...onMode,
  input: z.object({ hasLostNothing: z.boolean() }),
  async perform({ needs: { db }, by, input: { hasLostNothing } }) {
    const mode = await records.readRecoveryMode(db);
    if (!hasLostNothing) await requireRecovered(db, mode, actorText(by));
    if (await records.endRecovery(db, mode.timeline)) return done(null);
    throw new ConflictError(
      'not_recovered',
      'PostgreSQL was promoted or restored meanwhile: begin the recovery again.',
    );
  },
});

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
  const call = { path: {}, input: { hasLostNothing }, formId: randomUUID(), note };
  requireDone(await endRecovery.run(dependencies, actor, call));
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
  const steps = { recover: recoverAll.name, reconcile: reconcileNow.name, fullPeriodDays: FULL_PERIOD_DAYS };
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
