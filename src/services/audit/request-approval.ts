import type { Queryable } from '../../db/connection/pool';
import { onlyRow } from '../../db/connection/require-row';
import { operatorIdOf, type OperatorActor } from '../../domain/actor';
import { DeclaredAction } from '../../domain/declared-action';
import { ConflictError } from '../../errors';
import { withAudit, type AuditDependencies } from './audit';

/**
 * A request expires with the key of its operator. The owner of that key may have a new one, and would approve their own
 * request. Or the key was stolen.
 */
export const IS_VALID = `(approvals.expires_at > now()
  and exists (select from operators where operators.id = approvals.requested_by and is_accepted(operators)))`;

export const IS_WAITING = `(status = 'pending' and ${IS_VALID})`;

/** A request for an operation. */
interface ApprovalRequest {
  readonly action: string;
  /** What an operator reads: a payment, a provider account, a policy. */
  readonly target: string;
  /** What it moves, for the operator who decides. Null: not known. Absent: it moves none. */
  readonly amountRupiah?: number | null;
  /** Path and input. */
  readonly parameters: object;
  /** The version that it replaces; null: it names none. */
  readonly replaces: number | null;
}

export function approvalRequired(approvalId: number): ConflictError {
  const text = `Not executed yet: a second operator has to approve request ${approvalId}.`;
  return new ConflictError('approval_required', text, { approvalId: String(approvalId) });
}

export const REQUEST_APPROVAL = new DeclaredAction('approval.request');

/**
 * Stores the request for a second operator.
 * @param propose stores what the request must not have
 * @returns its id
 */
export async function storeApproval(
  dependencies: AuditDependencies,
  actor: OperatorActor,
  request: ApprovalRequest,
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
  { action, target, parameters, amountRupiah, replaces }: ApprovalRequest,
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
    [action, target, JSON.stringify(parameters), note, operatorId, amountRupiah, replaces],
  );
  return onlyRow(rows, 'The request was not written').id;
}
