import type { Queryable } from '../../db/connection/pool';
import {
  listAllPayoutRows,
  listOperatorPayoutSteps,
  type AllPayoutsFilter,
  type Payout,
} from '../../db/payouts/list-payouts';
import { listPayoutsNeedingAttention, type PayoutAttentionReason } from '../../db/payouts/payouts-needing-attention';
import { actorText, toStepActor, type OperatorActor } from '../../domain/actor';
import { describeAccount } from '../../domain/banks';
import { DeclaredAction } from '../../domain/declared-action';
import {
  APPROVER_TEXTS,
  findApproverRejection,
  payoutRejection,
  RESOLVE_PAYOUT_ACTIONS,
  type ApprovedPayout,
  type PayoutAction,
  type ProvenResolution,
} from '../../domain/payout-actions';
import type { PayoutRejection } from '../../domain/payout-rejections';
import { DEFERRAL_TEXTS } from '../../domain/payout-step';
import type { PayoutTransitionName } from '../../domain/payout-transitions';
import { ConflictError } from '../../errors';
import { withAudit, type AuditDependencies } from '../audit/audit';
import { requireApproval, type ApprovalRequest } from '../audit/request-approval';
import { findPayout, payoutIdOf, previewPayout, requestAs, type PayoutDependencies } from './payouts';

/** A payout as operators list it. */
export interface OperatorPayout extends Payout {
  /** Null: it needs no operator now. */
  readonly attentionReason: PayoutAttentionReason | null;
}

export interface OperatorPayoutFilter extends Omit<AllPayoutsFilter, 'ids'> {
  readonly needsAttention: boolean;
}

/** How many open payouts are compared with what an operator should look at. */
const MAX_NEEDING_ATTENTION = 1_000;

/** The payouts of all merchants, the newest first. */
export async function listAllPayouts(
  db: Queryable,
  { needsAttention, ...filter }: OperatorPayoutFilter,
): Promise<OperatorPayout[]> {
  const needing = await listPayoutsNeedingAttention(db, new Date(), MAX_NEEDING_ATTENTION);
  const reasons = new Map(needing.map(({ payoutId, reason }) => [payoutId, reason]));
  const payouts = await listAllPayoutRows(db, { ...filter, ids: needsAttention ? [...reasons.keys()] : null });
  return payouts.map((payout) => Object.assign(payout, { attentionReason: reasons.get(payout.id) ?? null }));
}

type OperationDependencies = PayoutDependencies & AuditDependencies;

export const CREATE_PAYOUT = new DeclaredAction('payout.create');

/** What an operator requests for a merchant: its whole balance. The same key is the same payout. */
export interface NewOperatorPayout {
  readonly merchantId: string;
  readonly key: string;
  readonly note?: string | undefined;
}

/**
 * Requests a payout of a merchant's whole balance. An operator approves it.
 * @throws NotFoundError if there is no such merchant
 * @throws ConflictError `not_allowed` with the reason why nothing can be paid
 */
export function createPayoutByOperator(
  dependencies: OperationDependencies,
  actor: OperatorActor,
  { merchantId, key: operatorKey, note }: NewOperatorPayout,
): Promise<Payout> {
  const { db } = dependencies;
  const key = `operator:${operatorKey}`;
  const target = payoutIdOf(merchantId, key);
  const detail = JSON.stringify({ merchantId, key: operatorKey });
  return withAudit(dependencies, actor, { action: CREATE_PAYOUT, target, note, detail }, async () => {
    const now = new Date();
    const preview = await previewPayout(db, merchantId, now);
    // What was seen is compared only if the payout is a new one.
    const seen = preview.outcome === 'possible' ? preview : { afterPostingId: 0, upToPostingId: 0, grossRupiah: 0 };
    const by = toStepActor(actor, note);
    const result = await requestAs(dependencies, { merchantId, key, by }, seen, now);
    if (result.outcome === 'requested') return result.payout;
    const rejection = preview.outcome === 'rejected' ? preview.rejection : result.rejection;
    throw new ConflictError('not_allowed', describeRejection(rejection));
  });
}

function describeRejection(rejection: PayoutRejection): string {
  switch (rejection.code) {
    case 'nothing_to_pay':
      return 'The merchant has no balance to pay.';
    case 'negative_balance':
      return `The merchant owes ${-rejection.balanceRupiah} rupiah: the next settlements pay it off first.`;
    case 'below_minimum':
      return `The balance is ${rejection.balanceRupiah} rupiah, and a payout needs ${rejection.minimumRupiah}.`;
    case 'balance_changed':
      return 'The balance has changed meanwhile: repeat this.';
    case 'request_pending':
      return 'Another payout of the merchant is being requested: repeat this in some minutes.';
    case 'cooling_down':
      return `Not now: the bank account is new. Payouts can go to it from ${rejection.usableFrom.toISOString()}.`;
    default:
      return `Not now: the payout would wait for ${DEFERRAL_TEXTS[rejection.code]}.`;
  }
}

/** An action of an operator on a payout. */
export type PayoutActionRequest = {
  /** The UUID or the reference of the payout. */
  readonly payout: string;
  /** The version that the operator has seen; absent: the newest one. */
  readonly version?: number | undefined;
  readonly note?: string | undefined;
} & ({ readonly action: 'approve' | 'cancel' | 'resend' } | ({ readonly action: 'resolve' } & ProvenResolution));

export const APPROVE_PAYOUT = new DeclaredAction('payout.approve');
export const CANCEL_PAYOUT = new DeclaredAction('payout.cancel');
export const RESEND_PAYOUT = new DeclaredAction('payout.resend');
export const RESOLVE_PAYOUT = new DeclaredAction('payout.resolve');

const DECLARED_ACTIONS = {
  approve: APPROVE_PAYOUT,
  cancel: CANCEL_PAYOUT,
  resend: RESEND_PAYOUT,
  resolve: RESOLVE_PAYOUT,
} as const satisfies Record<PayoutActionRequest['action'], DeclaredAction>;

/**
 * Requests the action of the payout's workflow. In production, all but a cancellation need a second operator, whatever
 * the amount is.
 * @throws NotFoundError if there is no such payout
 * @throws ConflictError `approval_required` with the id of the request, `not_allowed` with the reason, or `superseded`
 * if the payout has another version than the operator has seen
 * @throws Error if the outcome is not known
 */
export async function performPayoutAction(
  dependencies: OperationDependencies,
  actor: OperatorActor,
  request: PayoutActionRequest,
): Promise<Payout> {
  const payout = await findPayout(dependencies.db, null, request.payout);
  const seen = { payoutId: payout.id, version: request.version ?? payout.version };
  const rejection = seen.version === payout.version ? rejectionOf(actor, request, payout) : null;
  const needsApproval = rejection === null && request.action !== 'cancel';
  if (needsApproval) await requireApproval(dependencies, actor, approvalOf(request, payout, seen), request.note);
  const action = { action: DECLARED_ACTIONS[request.action], target: payout.id, note: request.note };
  return withAudit(dependencies, actor, action, async () => {
    if (rejection !== null) throw new ConflictError('not_allowed', rejection);
    await perform(dependencies, actor, request, { ...seen, merchantId: payout.merchantId });
    return findPayout(dependencies.db, null, payout.id);
  });
}

/** Why PostgreSQL's state of the payout does not allow the request. The workflow compares it again. */
function rejectionOf(actor: OperatorActor, request: PayoutActionRequest, payout: Payout): string | null {
  const rejection = payoutRejection(toPayoutAction(request), payout);
  if (rejection !== null || request.action !== 'approve') return rejection;
  const approverRejection = findApproverRejection(payout.approvalKind, actorText(actor), payout.requestedBy);
  return approverRejection && APPROVER_TEXTS[approverRejection];
}

function toPayoutAction(request: PayoutActionRequest): PayoutAction {
  return request.action === 'resolve' ? RESOLVE_PAYOUT_ACTIONS[request.resolution] : request.action;
}

function approvalOf(request: PayoutActionRequest, payout: Payout, seen: ApprovedPayout): ApprovalRequest {
  const account = describeAccount(payout.bankCode, payout.lastFour);
  const about = { target: `${payout.referenceId} to ${account}`, amountRupiah: payout.amountRupiah };
  if (request.action === 'resolve') {
    const { resolution, evidence } = request;
    return { ...about, action: 'payout.resolve', parameters: { ...seen, resolution, evidence } };
  }
  return { ...about, action: request.action === 'resend' ? 'payout.resend' : 'payout.approve', parameters: seen };
}

async function perform(
  { db, workflows }: PayoutDependencies,
  actor: OperatorActor,
  request: PayoutActionRequest,
  seen: ApprovedPayout & { readonly merchantId: string },
): Promise<void> {
  const action = toPayoutAction(request);
  const result = await workflows.perform(seen, action, toStepActor(actor, stepNote(request)));
  if (result.outcome === 'done') return;
  if (result.outcome === 'rejected') throw new ConflictError('not_allowed', result.reason);
  // An approval is repeated if the process ended before it recorded the outcome.
  if (actor.approval !== undefined && (await wasPerformed(db, action, seen))) return;
  throw new ConflictError('superseded', 'The payout has changed meanwhile: look at it again.');
}

/** The merchant sees why its payout failed, so the evidence stands alone. The audit log has the note. */
function stepNote(request: PayoutActionRequest): string | undefined {
  return request.action === 'resolve' ? request.evidence : request.note;
}

const TRANSITIONS: Readonly<Record<PayoutAction, readonly PayoutTransitionName[]>> = {
  approve: ['approve'],
  cancel: ['cancel_request', 'cancel'],
  resend: ['resend'],
  resolveAsCompleted: ['resolve_as_completed', 'resolve_failed_as_completed'],
  resolveAsFailed: ['resolve_as_failed'],
  resolveAsReturned: ['resolve_as_returned'],
};

/** Whether the transition that left this version is that of the action. A trigger permits it only to the approval. */
async function wasPerformed(db: Queryable, action: PayoutAction, seen: ApprovedPayout): Promise<boolean> {
  const steps = await listOperatorPayoutSteps(db, seen.payoutId);
  const next = steps.find(({ version }) => version === seen.version + 1);
  return next !== undefined && TRANSITIONS[action].includes(next.name);
}
