import { type RecordedOutcome, executeRecorded } from './execute-recorded';
import type { Queryable } from '../../db/connection/pool';
import type { Logger } from '../../observability/logger';
import { type ActorText, actorText, type Door, type OperatorActor, operatorIdOf } from '../../domain/actor';
import type { OperatorPaymentAction, PAYMENT_ACTIONS } from '../../domain/payment-actions';

export interface AuditDependencies {
  readonly db: Queryable;
  /** Receives an error if the outcome of an action cannot be recorded. */
  readonly log?: Pick<Logger, 'error'> | undefined;
}

/** Every operator action that writes, or that shows personal data or payloads. */
export type OperatorActionName =
  | (typeof PAYMENT_ACTIONS)[OperatorPaymentAction]['auditName']
  | 'exception.resolve'
  | 'webhook.create'
  | 'webhook.redeliver'
  | 'webhook.ping'
  | 'webhook.rotate_secret'
  | 'webhook.enable'
  | 'webhook.disable'
  | 'merchant.create'
  | 'merchant.approve'
  | 'merchant.suspend'
  | 'merchant.hold'
  | 'merchant.release'
  | 'merchant.set'
  | 'key.create'
  | 'key.revoke'
  | 'catalog.set'
  | 'account.create'
  | 'account.approve'
  | 'account.disable'
  | 'account.enable'
  | 'account.set_key'
  | 'account.propose_key'
  | 'account.set_rate'
  | 'worker.use_version'
  | 'workflow.decrypt'
  | 'customer.show'
  | 'customer.erase'
  | 'master_key.reseal'
  | 'operator.create'
  | 'operator.approve'
  | 'operator.revoke'
  | 'reconciliation.run'
  | 'recovery.run'
  | 'recovery.begin'
  | 'recovery.end'
  | 'archive.run'
  | 'sandbox.trigger'
  | 'approval.request'
  | 'approval.approve'
  | 'approval.reject'
  | 'approval.set_limit';

export interface OperatorAction {
  readonly action: OperatorActionName;
  /** The id of the object that the action creates or changes. */
  readonly target: string;
  readonly note?: string | undefined;
  /** Its parameters. */
  readonly detail?: string | undefined;
}

export interface AuditedAction {
  readonly id: number;
  readonly actor: ActorText;
  readonly via: Door;
  readonly action: OperatorActionName;
  readonly target: string;
  readonly note: string | null;
  readonly requestedAt: Date;
  /** Null: the process ended before it recorded an outcome. */
  readonly outcome: RecordedOutcome | null;
  /** Why it was rejected, and its parameters. */
  readonly detail: string | null;
  readonly finishedAt: Date | null;
}

/** Executes an operator action and records it in the audit log: before its execution, and its outcome after it. */
export async function withAudit<Result>(
  dependencies: AuditDependencies,
  actor: OperatorActor,
  action: OperatorAction,
  work: () => Promise<Result>,
): Promise<Result> {
  const id = await recordAction(dependencies, actor, action);
  return executeRecorded(work, (outcome, detail) => recordOutcome(dependencies, id, outcome, detail));
}

async function recordAction(
  { db }: AuditDependencies,
  actor: OperatorActor,
  { action, target, note, detail }: OperatorAction,
): Promise<number> {
  const { rows } = await db.query<{ id: number }>(
    `insert into operator_actions (actor, via, operator_id, action, target, note, detail)
     values ($1, $2, $3, $4, $5, $6, $7) returning id`,
    [actorText(actor), actor.door, operatorIdOf(actor), action, target, note, detail ?? describeApproval(actor)],
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
  outcome: RecordedOutcome,
  detail: string | null,
): Promise<void> {
  const text = 'insert into operator_action_outcomes (action_id, outcome, detail) values ($1, $2, $3)';
  await db.query(text, [actionId, outcome, detail]).catch((error: unknown) => {
    log?.error({ err: error, actionId, outcome }, 'outcome of an operator action not recorded');
  });
}

export interface ActionFilter {
  /** Only actions on this object. */
  readonly target?: string | undefined;
  /** Only actions older than this one: the next page. */
  readonly before?: number | undefined;
  readonly limit: number;
}

/** Newest first. */
export async function listActions(db: Queryable, { target, before, limit }: ActionFilter): Promise<AuditedAction[]> {
  const { rows } = await db.query<AuditedAction>(
    `select id, actor, via, action, target, note, requested_at as "requestedAt", outcome,
       nullif(concat_ws(' ', operator_action_outcomes.detail, operator_actions.detail), '') as detail,
       finished_at as "finishedAt"
     from operator_actions left join operator_action_outcomes on action_id = id
     where ($1::text is null or target = $1) and ($2::bigint is null or id < $2) order by id desc limit $3`,
    [target, before, limit],
  );
  return rows;
}
