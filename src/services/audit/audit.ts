import type { Queryable } from '../../db/connection/pool';
import { onlyRow } from '../../db/connection/require-row';
import { actorText, operatorIdOf, type OperatorActor } from '../../domain/actor';
import type { DeclaredAction } from '../../domain/declared-action';
import type { ActionEnd } from '../../domain/recorded-outcome';
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
}

/**
 * Executes an operator action and records it in the audit log: before its execution, and its outcome after it.
 * @param endOf how a result ends the action; by default each result is a success
 */
export async function withAudit<Result>(
  dependencies: AuditDependencies,
  actor: OperatorActor,
  action: OperatorAction,
  work: () => Promise<Result>,
  endOf?: (result: Result) => ActionEnd,
): Promise<Result> {
  const id = await recordAction(dependencies, actor, action);
  return executeRecorded(work, (end) => recordOutcome(dependencies, id, end), endOf);
}

async function recordAction(
  { db }: AuditDependencies,
  actor: OperatorActor,
  { action, target, note, detail }: OperatorAction,
): Promise<number> {
  const { rows } = await db.query<{ id: number }>(
    `insert into operator_actions (actor, via, operator_id, action, target, note, detail)
     values ($1, $2, $3, $4, $5, $6, $7) returning id`,
    [actorText(actor), actor.door, operatorIdOf(actor), action.name, target, note, detail ?? describeApproval(actor)],
  );
  if (!rows[0]) throw new Error('The action was not written into the audit log');
  return rows[0].id;
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
