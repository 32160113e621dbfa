import { z } from 'zod';
import { messageOf, UserError } from '../errors';
import type { Queryable } from '../db/connection/pool';
import { requireRow } from '../db/connection/require-row';
import { SETTLEMENT_KINDS } from '../domain/payment';
import { PAYMENT_METHODS, PROVIDERS } from '../domain/provider-capabilities';
import { type OperatorIdentity, withAudit } from './audit/audit';
import { setPolicy } from './provider-accounts/catalog';
import { resolveException } from './payments/exceptions';
import { approveOperator } from './identity/operators';
import type { PaymentActionResult } from './payments/payment-actions';
import { approveAccount } from './provider-accounts/provider-accounts';
import { APPROVABLE_PAYMENT_ACTIONS, type ApprovableAction, IS_WAITING } from './audit/request-approval';

/** A request for a second operator. */
export interface Approval {
  readonly id: number;
  readonly action: ApprovableAction['action'];
  readonly target: string;
  readonly parameters: unknown;
  readonly note: string;
  readonly requestedBy: string;
  readonly requestedAt: Date;
  readonly expiresAt: Date;
  /** `approved`: its execution is not recorded, so the approval can be repeated. */
  readonly status: 'pending' | 'expired' | 'approved' | 'executed' | 'failed' | 'rejected';
  readonly decidedBy: string | null;
  readonly decidedAt: Date | null;
  readonly failureReason: string | null;
}

/** What an approval needs to be executed. */
export interface ApprovalContext {
  readonly db: Queryable;
  /** The second operator. */
  readonly by: OperatorIdentity;
  /** Performs an action of a payment's workflow as this operator. */
  readonly performPaymentAction: (
    by: OperatorIdentity,
    action: (typeof APPROVABLE_PAYMENT_ACTIONS)[number],
    paymentId: string,
    note: string,
  ) => Promise<PaymentActionResult>;
}

const policyChange = z.object({
  provider: z.enum(PROVIDERS),
  channel: z.enum(PAYMENT_METHODS),
  feeBasisPoints: z.number().optional(),
  feeFlatRupiah: z.number().optional(),
  settlementKind: z.enum(SETTLEMENT_KINDS).optional(),
  settlementDelaySeconds: z.number().optional(),
  expiresInSeconds: z.number().optional(),
});

/** The action with its parameters, as the database has them. */
const approvable = z.union([
  z.object({ action: z.literal('account.create'), parameters: z.object({ accountId: z.string() }) }),
  z.object({ action: z.literal('operator.create'), parameters: z.object({ operatorId: z.string() }) }),
  z.object({ action: z.literal('catalog.set'), parameters: policyChange }),
  z.object({ action: z.literal('approval.set_limit'), parameters: z.object({ limitRupiah: z.number() }) }),
  z.object({
    action: z.literal('exception.resolve_as_refunded'),
    parameters: z.object({ exceptionId: z.string() }),
  }),
  z.object({ action: z.enum(APPROVABLE_PAYMENT_ACTIONS), parameters: z.object({ paymentId: z.string() }) }),
]);

/** Longer than the execution of any action. */
const LEASE = "interval '2 minutes'";

const APPROVAL_COLUMNS = `approvals.id, action, target, parameters, note, requester.name as "requestedBy",
  requested_at as "requestedAt", approvals.expires_at as "expiresAt",
  case when status = 'pending' and not ${IS_WAITING} then 'expired' else status end as status,
  decider.name as "decidedBy", decided_at as "decidedAt", failure_reason as "failureReason"`;
const WITH_NAMES = `join operators requester on requester.id = requested_by
  left join operators decider on decider.id = decided_by`;

/** Newest first. */
export async function listApprovals(
  db: Queryable,
  { onlyOpen, limit }: { readonly onlyOpen: boolean; readonly limit: number },
): Promise<Approval[]> {
  const { rows } = await db.query<Approval>(
    `select ${APPROVAL_COLUMNS} from approvals ${WITH_NAMES}
     where not $1 or ${IS_WAITING} or status = 'approved' order by approvals.id desc limit $2`,
    [onlyOpen, limit],
  );
  return rows;
}

/**
 * Approves a request of another operator and executes it, at most once at the same time. If the process ends before
 * the execution is recorded, the approval can be repeated after two minutes: each action is safe to repeat.
 * @throws NotFoundError if there is no such request
 * @throws UserError if the operator requested it, if it is decided or expired, or if the action is rejected
 */
export async function approve(context: ApprovalContext, approvalId: number, note?: string): Promise<Approval> {
  const { db, by } = context;
  return withAudit(db, by, { action: 'approval.approve', target: String(approvalId), note }, async () => {
    const approval = await decide(db, by, approvalId, 'approved');
    try {
      await execute({ ...context, by: { ...by, approval } }, approval);
    } catch (error) {
      if (error instanceof UserError) await recordExecution(db, approvalId, messageOf(error));
      throw error;
    }
    await recordExecution(db, approvalId, null);
    return findApproval(db, approvalId);
  });
}

/** Rejects a request of another operator, permanently. Errors: as of `approve`. */
export async function reject(
  { db, by }: Pick<ApprovalContext, 'db' | 'by'>,
  approvalId: number,
  note?: string,
): Promise<Approval> {
  return withAudit(db, by, { action: 'approval.reject', target: String(approvalId), note }, () =>
    decide(db, by, approvalId, 'rejected'),
  );
}

/** The newest limit is in force. @param limitRupiah rupiah; 0: each settlement needs a second operator */
export async function setApprovalLimit(db: Queryable, limitRupiah: number): Promise<void> {
  await db.query('insert into approval_limits (limit_rupiah) values ($1)', [limitRupiah]);
}

async function findApproval(db: Queryable, approvalId: number): Promise<Approval> {
  const { rows } = await db.query<Approval>(
    `select ${APPROVAL_COLUMNS} from approvals ${WITH_NAMES} where approvals.id = $1`,
    [approvalId],
  );
  return requireRow(rows, `There is no request ${approvalId}; lunas approvals list shows them.`);
}

/**
 * One person could revoke all other operators, and then create the next one alone. Such an operator decides nothing for
 * a day, in which the audit log shows it. The first two operators of an installation are created alone.
 */
const MAY_DECIDE = `exists (
  select from operators decider where id = $3 and (
    created_at <= now() - interval '24 hours'
    or (select count(*) from operators where scopes is null) <= 2
    or exists (select from approvals where action = 'operator.create' and status = 'executed'
      and parameters ->> 'operatorId' = decider.id::text)
  ))`;

/** One statement decides, so a request is decided once. An approval whose lease ended is taken over. */
async function decide(
  db: Queryable,
  by: OperatorIdentity,
  approvalId: number,
  decision: 'approved' | 'rejected',
): Promise<Approval> {
  const { rowCount } = await db.query(
    `update approvals set status = $2, decided_by = $3, decided_at = now(),
       leased_until = case when $2 = 'approved' then now() + ${LEASE} end
     where id = $1 and requested_by <> $3 and ${MAY_DECIDE}
       and (${IS_WAITING}
         or status = 'approved' and $2 = 'approved' and leased_until < now())`,
    [approvalId, decision, by.operatorId],
  );
  const approval = await findApproval(db, approvalId);
  if (rowCount === 1) return approval;
  throw new UserError(`Request ${approvalId} ${whyNotDecided(approval)}`);
}

function whyNotDecided({ status, requestedBy, decidedBy }: Approval): string {
  if (status === 'pending') {
    return `is of ${requestedBy}: another operator has to decide, whose key is a day old or was approved.`;
  }
  if (status === 'expired') return 'is expired: it has to be requested again.';
  if (status === 'approved') return `is being executed for ${decidedBy}; repeat this in two minutes if it stays so.`;
  return `is ${status} already, by ${decidedBy}.`;
}

async function execute({ db, by, performPaymentAction }: ApprovalContext, approval: Approval): Promise<unknown> {
  const note = `${approval.note} (requested by operator:${approval.requestedBy})`;
  const { action, parameters } = approvable.parse(approval);
  const audited = { action, target: approval.target, note };
  switch (action) {
    case 'account.create':
      return withAudit(db, by, { ...audited, action: 'account.approve' }, () =>
        approveAccount(db, parameters.accountId),
      );
    case 'operator.create':
      return withAudit(db, by, { ...audited, action: 'operator.approve' }, () =>
        approveOperator(db, parameters.operatorId),
      );
    case 'catalog.set':
      return withAudit(db, by, { ...audited, action }, () => setPolicy(db, parameters));
    case 'approval.set_limit':
      return withAudit(db, by, { ...audited, action }, () => setApprovalLimit(db, parameters.limitRupiah));
    case 'exception.resolve_as_refunded':
      return resolveException(db, by, parameters.exceptionId, { note, isRefunded: true });
    default:
      return performPaymentAction(by, action, parameters.paymentId, note);
  }
}

async function recordExecution(db: Queryable, approvalId: number, failureReason: string | null): Promise<void> {
  await db.query(
    `update approvals set status = case when $2::text is null then 'executed' else 'failed' end, failure_reason = $2,
       leased_until = null
     where id = $1 and status = 'approved'`,
    [approvalId, failureReason],
  );
}
