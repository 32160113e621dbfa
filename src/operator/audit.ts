import { messageOf, UserError } from '../errors';
import type { Queryable } from '../db/pool';
import type { OperatorPaymentAction, PAYMENT_ACTIONS } from '../domain/payment-actions';

/** The operator who acts: a user of the command line, or the owner of an operator key. */
export type OperatorIdentity =
  | { readonly via: 'cli'; readonly name: string }
  | { readonly via: 'api'; readonly name: string; readonly operatorId: string };

/** Every operator action that changes existing objects or access. */
export type OperatorActionName =
  | (typeof PAYMENT_ACTIONS)[OperatorPaymentAction]['auditName']
  | 'exception.resolve'
  | 'webhook.redeliver'
  | 'webhook.ping'
  | 'webhook.rotate_secret'
  | 'webhook.enable'
  | 'webhook.disable'
  | 'merchant.approve'
  | 'merchant.suspend'
  | 'merchant.hold'
  | 'merchant.release'
  | 'merchant.set'
  | 'key.revoke'
  | 'catalog.set'
  | 'account.disable'
  | 'account.enable'
  | 'account.set_key'
  | 'customer.show'
  | 'customer.erase'
  | 'master_key.reseal'
  | 'operator.create'
  | 'operator.revoke';

export interface OperatorAction {
  readonly action: OperatorActionName;
  /** The id of the object that the action changes. */
  readonly target: string;
  readonly note?: string | undefined;
}

/** `indeterminate`: the action may have been executed. Null: the process ended before it recorded an outcome. */
type ActionOutcome = 'succeeded' | 'rejected' | 'indeterminate' | null;

export interface AuditedAction {
  readonly id: number;
  readonly actor: string;
  readonly via: OperatorIdentity['via'];
  readonly action: OperatorActionName;
  readonly target: string;
  readonly note: string | null;
  readonly requestedAt: Date;
  readonly outcome: ActionOutcome;
  readonly detail: string | null;
  readonly finishedAt: Date | null;
}

/** Executes an operator action and records it in the audit log: before its execution, and its outcome after it. */
export async function withAudit<Result>(
  db: Queryable,
  by: OperatorIdentity,
  action: OperatorAction,
  work: () => Promise<Result>,
): Promise<Result> {
  const id = await recordAction(db, by, action);
  try {
    const result = await work();
    await recordOutcome(db, id, 'succeeded', null);
    return result;
  } catch (error) {
    const outcome = error instanceof UserError ? 'rejected' : 'indeterminate';
    await recordOutcome(db, id, outcome, messageOf(error));
    throw error;
  }
}

async function recordAction(
  db: Queryable,
  by: OperatorIdentity,
  { action, target, note }: OperatorAction,
): Promise<number> {
  const { rows } = await db.query<{ id: number }>(
    `insert into operator_actions (actor, via, operator_id, action, target, note)
     values ($1, $2, $3, $4, $5, $6) returning id`,
    [by.name, by.via, by.via === 'api' ? by.operatorId : null, action, target, note],
  );
  if (!rows[0]) throw new Error('The action was not written into the audit log');
  return rows[0].id;
}

/** Best effort: a failed write must not hide the outcome from the operator. The action itself is recorded already. */
async function recordOutcome(db: Queryable, id: number, outcome: ActionOutcome, detail: string | null): Promise<void> {
  await db
    .query('insert into operator_action_outcomes (action_id, outcome, detail) values ($1, $2, $3)', [
      id,
      outcome,
      detail,
    ])
    .catch(() => undefined);
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
    `select id, actor, via, action, target, note, requested_at as "requestedAt", outcome, detail,
       finished_at as "finishedAt"
     from operator_actions left join operator_action_outcomes on action_id = id
     where ($1::text is null or target = $1) and ($2::bigint is null or id < $2) order by id desc limit $3`,
    [target, before, limit],
  );
  return rows;
}
