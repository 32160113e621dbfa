import type { Queryable } from '../../db/connection/pool';
import { onlyRow } from '../../db/connection/require-row';
import { operatorIdOf, type OperatorActor } from '../../domain/actor';
import { DeclaredAction } from '../../domain/declared-action';
import { ConflictError } from '../../errors';
import type { AccountKey, ProposedAccount } from '../provider-accounts/provider-accounts';
import { withAudit, type AuditDependencies } from './audit';

/**
 * A request expires with the key of its operator. The owner of that key may have a new one, and would approve their own
 * request. Or the key was stolen.
 */
export const IS_VALID = `(approvals.expires_at > now()
  and exists (select from operators where operators.id = approvals.requested_by and is_accepted(operators)))`;

export const IS_WAITING = `(status = 'pending' and ${IS_VALID})`;

/** What a second operator approves: the name of the action, and all that its execution needs. */
export type ApprovableAction =
  | { readonly action: 'account.create'; readonly parameters: ProposedAccount }
  | {
      readonly action: 'account.set_key';
      readonly parameters: AccountKey & { readonly previousNmid: string | null };
    };

interface RequestDetails {
  /** What an operator reads: a payment, a provider account, a policy. */
  readonly target: string;
  /** What it moves, for the operator who decides. Null: not known. Absent: it moves none. */
  readonly amountRupiah?: number | null;
}

/** A request for an operation. */
interface OperationRequest extends RequestDetails {
  readonly action: string;
  /** Path and input. */
  readonly parameters: object;
  /** The version that it replaces; null: it names none. */
  readonly replaces: number | null;
}

export type ApprovalRequest = ApprovableAction & RequestDetails;

/**
 * Production only: stores the request for a second operator, and the action must not be executed now.
 * @throws ConflictError `approval_required` with the id of the request
 */
export async function requireApproval(
  dependencies: AuditDependencies,
  actor: OperatorActor,
  request: ApprovalRequest,
  note?: string,
): Promise<void> {
  const id = await requestApproval(dependencies, actor, request, note);
  if (id !== null) throw approvalRequired(id);
}

export function approvalRequired(approvalId: number): ConflictError {
  const text = `Not executed yet: a second operator has to approve request ${approvalId}.`;
  return new ConflictError('approval_required', text, { approvalId: String(approvalId) });
}

export const REQUEST_APPROVAL = new DeclaredAction('approval.request');

/**
 * Requests an approval where `requireApproval` would.
 * @returns the id of the request; null if the operator may act alone
 */
export async function requestApproval(
  dependencies: AuditDependencies,
  actor: OperatorActor,
  request: ApprovalRequest,
  note?: string,
): Promise<number | null> {
  if (actor.approval !== undefined) return null;
  const { rows } = await dependencies.db.query<{ isProduction: boolean }>('select is_production() as "isProduction"');
  return onlyRow(rows).isProduction ? storeApproval(dependencies, actor, request, note) : null;
}

/**
 * Stores the request for a second operator.
 * @param propose stores what the request must not have
 * @returns its id
 */
export async function storeApproval(
  dependencies: AuditDependencies,
  actor: OperatorActor,
  request: ApprovalRequest | OperationRequest,
  note?: string,
  propose?: () => Promise<unknown>,
): Promise<number> {
  const { target } = request;
  const detail = JSON.stringify({ action: request.action, ...request.parameters });
  return withAudit(dependencies, actor, { action: REQUEST_APPROVAL, target, note, detail }, async () => {
    await propose?.();
    return storeRequest(dependencies.db, actor, request, note ?? '');
  });
}

/** A request that waits already is not stored again. */
async function storeRequest(
  db: Queryable,
  actor: OperatorActor,
  { action, target, parameters, amountRupiah, ...named }: ApprovalRequest | OperationRequest,
  note: string,
): Promise<number> {
  const operatorId = operatorIdOf(actor);
  if (operatorId === undefined) {
    throw new ConflictError('operator_key_required', 'Only an operator with a key can request this.');
  }
  const { rows } = await db.query<{ id: number }>(
    `with waiting as (
       select id from approvals
       where action = $1 and target = $2 and parameters = $3::jsonb and ${IS_WAITING}
         and expected_version is not distinct from $7::bigint
       limit 1
     ),
     stored as (
       insert into approvals (action, target, parameters, note, requested_by, amount_rupiah, expected_version)
       select $1, $2, $3, $4, $5, $6::bigint, $7::bigint where not exists (select from waiting)
       returning id
     )
     select id from waiting union all select id from stored`,
    [
      action,
      target,
      JSON.stringify(parameters),
      note,
      operatorId,
      amountRupiah,
      'replaces' in named ? named.replaces : null,
    ],
  );
  return onlyRow(rows, 'The request was not written').id;
}
