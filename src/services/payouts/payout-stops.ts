import type { Queryable } from '../../db/connection/pool';
import { onlyRow } from '../../db/connection/require-row';
import { actorText, type OperatorActor } from '../../domain/actor';
import { DeclaredAction } from '../../domain/declared-action';
import { ConflictError } from '../../errors';
import { withAudit, type AuditDependencies } from '../audit/audit';
import { requireApproval } from '../audit/request-approval';

/** What stops all payouts. */
export interface PayoutStop {
  readonly stoppedBy: string;
  readonly stoppedAt: Date;
  readonly note: string;
}

interface StopRow extends PayoutStop {
  readonly id: number;
  readonly isStopped: boolean;
}

async function findNewestRow(db: Queryable): Promise<StopRow | undefined> {
  const { rows } = await db.query<StopRow>(
    `select id, is_stopped as "isStopped", changed_by as "stoppedBy", changed_at as "stoppedAt", note
     from payout_stops order by id desc limit 1`,
  );
  return rows[0];
}

/** Null: payouts are not stopped. */
export async function findPayoutStop(db: Queryable): Promise<PayoutStop | null> {
  const newest = await findNewestRow(db);
  if (!newest?.isStopped) return null;
  const { stoppedBy, stoppedAt, note } = newest;
  return { stoppedBy, stoppedAt, note };
}

const TARGET = 'all payouts';

export const STOP_PAYOUTS = new DeclaredAction('payout.stop');

/**
 * From now on no payout is requested, and none is sent to the bank. What the bank has goes on. Each stop is recorded:
 * a start that was requested before it ends an earlier one, and fails.
 * @returns whether payouts were stopped already
 */
export function stopPayouts(
  dependencies: AuditDependencies,
  actor: OperatorActor,
  note: string,
): Promise<{ readonly wasStopped: boolean }> {
  const { db } = dependencies;
  return withAudit(dependencies, actor, { action: STOP_PAYOUTS, target: TARGET, note }, async () => {
    const { rows } = await db.query<{ wasStopped: boolean }>(
      `with earlier as (select is_stopped from payout_stops order by id desc limit 1)
       insert into payout_stops (is_stopped, changed_by, note) values (true, $1, $2)
       returning coalesce((select is_stopped from earlier), false) as "wasStopped"`,
      [actorText(actor), note],
    );
    return onlyRow(rows, 'An insert returns its row');
  });
}

export const START_PAYOUTS = new DeclaredAction('payout.start');

/**
 * Requests the start in production, and starts payouts immediately in a sandbox.
 * @throws ConflictError `approval_required` with the id of the request; `not_allowed` if they are not stopped
 */
export async function startPayouts(dependencies: AuditDependencies, actor: OperatorActor, note: string): Promise<void> {
  const { db } = dependencies;
  const newest = await findNewestRow(db);
  if (newest?.isStopped) {
    await requireApproval(dependencies, actor, { action: 'payout.start', target: TARGET, parameters: {} }, note);
  }
  await withAudit(dependencies, actor, { action: START_PAYOUTS, target: TARGET, note }, () =>
    endPayoutStop(db, actor, { note, expectedId: newest?.id ?? 0 }),
  );
}

/** @throws ConflictError `not_allowed` unless payouts are stopped by the expected row */
export async function endPayoutStop(
  db: Queryable,
  actor: OperatorActor,
  { note, expectedId }: { readonly note: string; readonly expectedId: number },
): Promise<void> {
  const { rowCount } = await db.query(
    `insert into payout_stops (is_stopped, ended_stop_id, changed_by, note)
     select false, id, $1, $2
     from (select id, is_stopped from payout_stops order by id desc limit 1) newest
     where is_stopped and id = $3`,
    [actorText(actor), note, expectedId],
  );
  if (rowCount === 0) {
    throw new ConflictError('not_allowed', 'Payouts are not stopped, or were stopped again since.');
  }
}
