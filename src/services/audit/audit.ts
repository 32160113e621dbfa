import type { Queryable } from '../../db/connection/pool';
import { onlyRow } from '../../db/connection/require-row';
import { actorText, operatorIdOf, type OperatorActor } from '../../domain/actor';
import type { DeclaredAction } from '../../domain/declared-action';
import type { ActionEnd } from '../../domain/recorded-outcome';
import { ConflictError } from '../../errors';
import type { Logger } from '../../observability/logger';
import { executeRecorded } from './execute-recorded';

export interface AuditDependencies {
  readonly db: Queryable;
  /** Receives an error if the outcome of an action cannot be recorded, and a warning if it is not known. */
  readonly log?: Pick<Logger, 'error' | 'warn'> | undefined;
}

export interface OperatorAction {
  readonly action: DeclaredAction;
  /** The id of the object that the action creates or changes. */
  readonly target: string;
  readonly note?: string | undefined;
  /** The parameters of the action. */
  readonly detail?: string | undefined;
  /** Whether a second operator has to approve it in production, unless a rule lets one operator do it alone. */
  readonly hasApproval?: boolean;
  /** What it moves, in rupiah; null: not known. A rule counts it. */
  readonly amountRupiah?: number | null | undefined;
  /** Who receives that. */
  readonly merchantId?: string | null | undefined;
}

/** Records how an act has ended. It does not throw. */
export type RecordEnd = (end: ActionEnd) => Promise<void>;

/**
 * Executes an operator action and records it in the audit log: before its execution, and its outcome after it.
 * @throws ConflictError if one operator has done it as often in 24 hours as the rule allows
 */
export async function withAudit<Result>(
  dependencies: AuditDependencies,
  actor: OperatorActor,
  action: OperatorAction,
  work: () => Promise<Result>,
): Promise<Result> {
  const record = await beginAction(dependencies, actor, action);
  if (record === null) throw new ConflictError('not_allowed', DAY_LIMIT_TEXT);
  return executeRecorded(work, record);
}

export const DAY_LIMIT_TEXT = 'One operator may not do more of this alone in 24 hours. Another operator can do it.';

/**
 * Writes the row of an act, in one statement with the count of what one operator does alone.
 * @returns null: a second operator has to approve it, and nothing was written
 */
export async function beginAction(
  dependencies: AuditDependencies,
  actor: OperatorActor,
  { action, target, note, detail, hasApproval = false, amountRupiah, merchantId }: OperatorAction,
): Promise<RecordEnd | null> {
  const act = {
    actor: actorText(actor),
    via: actor.door,
    operator_id: operatorIdOf(actor),
    action: action.name,
    target,
    note,
    detail: detail ?? describeApproval(actor),
    amount_rupiah: amountRupiah,
    merchant_id: merchantId,
    approval_id: actor.approval?.id,
  };
  const { rows } = await dependencies.db.query<{ id: number | null }>(
    'select id from begin_operator_action(jsonb_populate_record(null::operator_actions, $1), $2)',
    [JSON.stringify(act), hasApproval],
  );
  const { id } = onlyRow(rows, 'The action was not written into the audit log');
  return id === null ? null : (end) => recordOutcome(dependencies, id, end);
}

/** Has the parameters that are executed, so that the hash chain of the audit log covers them. */
function describeApproval({ approval }: OperatorActor): string | null {
  if (!approval) return null;
  const { id, requestedBy, parameters } = approval;
  const requester = actorText({ kind: 'operator', name: requestedBy });
  return `approval ${id}, requested by ${requester} ${JSON.stringify(parameters)}`;
}

/** A failed write does not hide the outcome from the operator: the log has it, and the action is recorded already. */
async function recordOutcome(
  { db, log }: AuditDependencies,
  actionId: number,
  { outcome, detail }: ActionEnd,
): Promise<void> {
  const text = 'insert into operator_action_outcomes (action_id, outcome, detail) values ($1, $2, $3)';
  await db.query(text, [actionId, outcome, detail]).catch((error: unknown) => {
    log?.error({ err: error, actionId, outcome }, 'outcome of an operator action not recorded');
  });
}

/** When the action on this object succeeded first; null if it never did. */
export async function findFirstSuccess(db: Queryable, action: DeclaredAction, target: string): Promise<Date | null> {
  const { rows } = await db.query<{ finishedAt: Date | null }>(
    `select min(finished_at) as "finishedAt" from operator_actions join operator_action_outcomes on action_id = id
     where target = $1 and action = $2 and outcome = 'succeeded'`,
    [target, action.name],
  );
  return onlyRow(rows).finishedAt;
}
