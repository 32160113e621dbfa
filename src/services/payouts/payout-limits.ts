import { findEnvironment } from '../../db/connection/environment';
import type { Queryable } from '../../db/connection/pool';
import { onlyRow } from '../../db/connection/require-row';
import type { OperatorActor } from '../../domain/actor';
import { DeclaredAction } from '../../domain/declared-action';
import { ConflictError } from '../../errors';
import { withAudit, type AuditDependencies } from '../audit/audit';
import { requireApproval } from '../audit/request-approval';
import type { PayoutLimits } from './payout-rules';

interface LimitsInForce extends PayoutLimits {
  readonly id: number;
}

async function findLimits(db: Queryable): Promise<LimitsInForce> {
  const { rows } = await db.query<LimitsInForce>(
    `select id, cooldown_seconds, not_found_seconds, day_limit_rupiah from payout_limits order by id desc limit 1`,
  );
  return onlyRow(rows, 'The database has no limits of payouts');
}

/** The limits of payouts in force. */
export async function getPayoutLimits(db: Queryable): Promise<PayoutLimits> {
  const { id: _, ...limits } = await findLimits(db);
  return limits;
}

export const SET_PAYOUT_LIMITS = new DeclaredAction('payout.set_limits');

/**
 * Requests the change in production, and makes it immediately in a sandbox. Absent limits keep their values.
 * @throws ConflictError `approval_required` with the id of the request; `not_allowed` if production rejects the values
 */
export async function setPayoutLimits(
  dependencies: AuditDependencies,
  actor: OperatorActor,
  change: { readonly [Limit in keyof PayoutLimits]: PayoutLimits[Limit] | undefined },
  note?: string,
): Promise<PayoutLimits> {
  const { db } = dependencies;
  const { id, ...before } = await findLimits(db);
  const limits = {
    cooldown_seconds: change.cooldown_seconds ?? before.cooldown_seconds,
    not_found_seconds: change.not_found_seconds ?? before.not_found_seconds,
    day_limit_rupiah: change.day_limit_rupiah ?? before.day_limit_rupiah,
  };
  await requirePermitted(db, limits);
  const target = 'limits of payouts';
  await requireApproval(dependencies, actor, { action: 'payout.set_limits', target, parameters: limits }, note);
  const detail = JSON.stringify(limits);
  await withAudit(dependencies, actor, { action: SET_PAYOUT_LIMITS, target, note, detail }, () =>
    replacePayoutLimits(db, limits, id),
  );
  return limits;
}

const DAY_SECONDS = 86_400;

/** Rejects limits that a trigger would reject only after the approval. */
async function requirePermitted(db: Queryable, limits: PayoutLimits): Promise<void> {
  const shortest = Math.min(limits.cooldown_seconds, limits.not_found_seconds);
  if (shortest >= DAY_SECONDS || (await findEnvironment(db)) !== 'production') return;
  throw new ConflictError('not_allowed', 'In production the cool-down and the wait for the bank are at least a day.');
}

/** @throws ConflictError `superseded` if other limits than the expected ones are in force */
export async function replacePayoutLimits(db: Queryable, limits: PayoutLimits, expectedId: number): Promise<void> {
  const { rowCount } = await db.query(
    `insert into payout_limits (cooldown_seconds, not_found_seconds, day_limit_rupiah, replaces_id)
     select $1, $2, $3, id from (select id from payout_limits order by id desc limit 1) newest where id = $4
     on conflict (replaces_id) do nothing`,
    [limits.cooldown_seconds, limits.not_found_seconds, limits.day_limit_rupiah, expectedId],
  );
  if (rowCount === 1) return;
  const text = 'There are newer limits than those that this request would have replaced: request it again.';
  throw new ConflictError('superseded', text);
}
