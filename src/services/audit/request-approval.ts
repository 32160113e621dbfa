import { UserError } from '../../errors';
import type { Queryable } from '../../db/connection/pool';
import { requireRow } from '../../db/connection/require-row';
import type { OperatorPaymentAction } from '../../domain/payment-actions';
import { formatRupiah } from '../../domain/money';
import { type OperatorIdentity, withAudit } from './audit';
import type { PolicyChange } from '../provider-accounts/catalog';

/** The payment actions that need a second operator. */
export const APPROVABLE_PAYMENT_ACTIONS = [
  'settle',
  'resolveRefundAsRefunded',
  'resolveRefundAsPaid',
] as const satisfies readonly OperatorPaymentAction[];

/**
 * A request expires with the key of its operator. The owner of that key may have a new one, and would approve their own
 * request. Or the key was stolen.
 */
export const IS_WAITING = `(status = 'pending' and approvals.expires_at > now()
  and exists (select from operators where operators.id = approvals.requested_by and revoked_at is null))`;

/** What a second operator approves: the name of the action, and all that its execution needs. */
export type ApprovableAction =
  | { readonly action: 'account.create'; readonly parameters: { readonly accountId: string } }
  | { readonly action: 'operator.create'; readonly parameters: { readonly operatorId: string } }
  | { readonly action: 'catalog.set'; readonly parameters: PolicyChange }
  | { readonly action: 'approval.set_limit'; readonly parameters: { readonly limitRupiah: number } }
  | { readonly action: 'exception.resolve_as_refunded'; readonly parameters: { readonly exceptionId: string } }
  | {
      readonly action: (typeof APPROVABLE_PAYMENT_ACTIONS)[number];
      readonly parameters: { readonly paymentId: string };
    };

export type ApprovalRequest = ApprovableAction & {
  /** What an operator reads: a payment, a provider account, a policy. */
  readonly target: string;
  /** The action needs approval only above the limit. */
  readonly amountRupiah?: number;
};

/**
 * Production only: stores the request for a second operator, and the action must not be executed now.
 * @throws UserError with the command that approves it
 */
export async function requireApproval(
  db: Queryable,
  by: OperatorIdentity,
  request: ApprovalRequest,
  note?: string,
): Promise<void> {
  const id = await requestApproval(db, by, request, note);
  if (id !== null) throw new UserError(`Not executed yet: ${howToApprove(id)}`);
}

/** As `requireApproval`. @returns the id of the request; null if the operator may act alone */
export async function requestApproval(
  db: Queryable,
  by: OperatorIdentity,
  request: ApprovalRequest,
  note?: string,
): Promise<number | null> {
  if (by.approval !== undefined) return null;
  const limitRupiah = await findApprovalLimit(db);
  if (limitRupiah === null) return null;
  if (request.amountRupiah !== undefined && request.amountRupiah <= limitRupiah) return null;
  const detail = JSON.stringify({ action: request.action, ...request.parameters });
  const { target } = request;
  return withAudit(db, by, { action: 'approval.request', target, note, detail }, () =>
    storeRequest(db, by, request, note ?? ''),
  );
}

/** The sentence for the operator who requested the action. */
export function howToApprove(approvalId: number): string {
  return `a second operator has to approve it with lunas approvals approve ${approvalId} --note "…".`;
}

/** Null: this database is not of production, so every operator acts alone. */
async function findApprovalLimit(db: Queryable): Promise<number | null> {
  const { rows } = await db.query<{ limitRupiah: number | null }>(
    `select case when environment = 'production' then
       (select limit_rupiah from approval_limits order by id desc limit 1) end as "limitRupiah"
     from installation`,
  );
  return requireRow(rows, 'The database records no environment').limitRupiah;
}

/** A request that waits already is not stored again. */
async function storeRequest(
  db: Queryable,
  by: OperatorIdentity,
  { action, target, parameters, amountRupiah }: ApprovalRequest,
  note: string,
): Promise<number> {
  if (by.operatorId === undefined) throw new UserError('Set LUNAS_OPERATOR_KEY to your operator key.');
  const described = amountRupiah === undefined ? target : `${target}, ${formatRupiah(amountRupiah)}`;
  const { rows } = await db.query<{ id: number }>(
    `with waiting as (
       select id from approvals
       where action = $1 and target = $2 and parameters = $3::jsonb and ${IS_WAITING}
       limit 1
     ),
     stored as (
       insert into approvals (action, target, parameters, note, requested_by)
       select $1, $2, $3, $4, $5 where not exists (select from waiting)
       returning id
     )
     select id from waiting union all select id from stored`,
    [action, described, JSON.stringify(parameters), note, by.operatorId],
  );
  return requireRow(rows, 'The request was not written').id;
}
