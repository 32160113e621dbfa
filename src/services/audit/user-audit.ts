import type { Queryable } from '../../db/connection/pool';
import { insertEndedUserAction, insertUserAction, insertUserActionOutcome } from '../../db/identity/user-actions';
import { DeclaredAction } from '../../domain/declared-action';
import type { Logger } from '../../observability/logger';
import type { RecordEnd } from './audit';
import { executeRecorded } from './execute-recorded';

/** The user of a merchant who acts. */
export interface UserIdentity {
  readonly userId: string;
  /** Null: the action belongs to the login. */
  readonly merchantId: string | null;
  readonly address: string;
  /** Receives an error if an outcome cannot be recorded. */
  readonly log?: Pick<Logger, 'error'> | undefined;
}

/** Every action of users that is recorded, besides those that are operations. */
export type UserActionName =
  | 'session.sign_in'
  | 'session.sign_out'
  | 'session.end'
  | 'session.end_others'
  | 'profile.set'
  | 'security.step_up'
  | 'security.set_password'
  | 'security.set_totp'
  | 'security.set_recovery_codes'
  | 'security.add_passkey'
  | 'security.rename_passkey'
  | 'security.remove_passkey'
  | 'security.reset'
  | 'member.join'
  | 'payments.export'
  | 'shift.export'
  | 'activity.export'
  | 'statement.export'
  | 'invoice.export'
  | 'payouts.export'
  | 'payout.export_lines';

export interface UserAction {
  /** An operation, or the name of what no operation is yet. */
  readonly action: UserActionName | DeclaredAction;
  /** The id of the object that the action creates or changes. */
  readonly target: string;
  /** The parameters of the action, as JSON. */
  readonly detail?: string | undefined;
}

/** Executes an action of a user and records it: before its execution, and its outcome after it. */
export async function withUserAudit<Result>(
  db: Queryable,
  by: UserIdentity,
  action: UserAction,
  work: () => Promise<Result>,
): Promise<Result> {
  return executeRecorded(work, await beginUserAction(db, by, action));
}

/** Writes the row of an action of a user. */
export async function beginUserAction(
  db: Queryable,
  { userId, merchantId, address, log }: UserIdentity,
  { action, target, detail }: UserAction,
): Promise<RecordEnd> {
  const row = { userId, merchantId, action: nameOf(action), target, detail: detail ?? null, address };
  const id = await insertUserAction(db, row);
  return (end) =>
    insertUserActionOutcome(db, id, end).catch((error: unknown) => {
      log?.error({ err: error, actionId: id, outcome: end.outcome }, 'outcome of a user action not recorded');
    });
}

/** Records a sign-in or another step that has ended: it changes nothing that a row before it would have to explain. */
export async function recordEndedStep(
  db: Queryable,
  { userId, merchantId, address }: UserIdentity,
  { action, target }: UserAction,
  rejection: string | null,
): Promise<void> {
  const outcome = rejection === null ? 'succeeded' : 'rejected';
  const row = { userId, merchantId, action: nameOf(action), target, detail: null, address };
  await insertEndedUserAction(db, row, { outcome, detail: rejection });
}

function nameOf(action: UserAction['action']): string {
  return action instanceof DeclaredAction ? action.name : action;
}
