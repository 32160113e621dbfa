import { v5 as uuidv5 } from 'uuid';
import { referenceIdOf } from '../../crypto/reference-id';
import type { Queryable } from '../../db/connection/pool';
import { listApproverNames } from '../../db/identity/members';
import {
  findPayoutRow,
  listPayoutLineRows,
  listPayoutRows,
  listPayoutSteps,
  type Payout,
  type PayoutFilter,
  type PayoutHistoryRow,
  type PayoutLine,
} from '../../db/payouts/list-payouts';
import { readPayoutBasis, readSeenBasis } from '../../db/payouts/payout-basis';
import type { StepActor } from '../../domain/actor';
import {
  decidePayable,
  type PaidLines,
  type PayableRun,
  type PayoutBasis,
  type PossiblePayout,
} from '../../domain/payout-preview';
import type { PayoutRejection } from '../../domain/payout-rejections';
import { NotFoundError } from '../../errors';
import type { PayoutClient } from '../../temporal/payout-client';
import { takeTurn } from './request-turn';

/* Each function reads one merchant. A payout pays the whole available balance, and changes in its workflow only. */

/** A member of a merchant. */
export interface PayoutUser {
  readonly userId: string;
  readonly merchantId: string;
}

/** What the functions request of the workflows of payouts. */
export type PayoutWorkflows = Pick<PayoutClient, 'request' | 'perform' | 'findRequest'>;

export interface PayoutDependencies {
  readonly db: Queryable;
  readonly workflows: PayoutWorkflows;
}

/** What a payout would be now. */
export type PayoutPreview =
  | (PossiblePayout & {
      readonly outcome: 'possible';
      readonly balanceRupiah: number;
      readonly lines: readonly PaidLines[];
    })
  | { readonly outcome: 'rejected'; readonly rejection: PayoutRejection };

/** What a payout of the whole balance would be, or why there is none. */
export async function previewPayout(db: Queryable, merchantId: string, now: Date): Promise<PayoutPreview> {
  return toPreview(await readPayoutBasis(db, merchantId, now), now);
}

/**
 * The payout of the lines that were seen. What is paid on account is chosen again: only without lines that can be paid.
 */
async function previewSeen(db: Queryable, merchantId: string, seen: PayableRun, now: Date): Promise<PayoutPreview> {
  if (seen.upToPostingId === 0) return previewPayout(db, merchantId, now);
  return toPreview(await readSeenBasis(db, merchantId, seen, now), now);
}

function toPreview(basis: PayoutBasis, at: Date): PayoutPreview {
  const decided = decidePayable(basis, at);
  if ('code' in decided) return { outcome: 'rejected', rejection: decided };
  const { balanceRupiah, lines } = basis;
  return { outcome: 'possible', ...decided, balanceRupiah, lines };
}

export type RequestedPayout =
  | { readonly outcome: 'requested'; readonly payout: Payout }
  | { readonly outcome: 'rejected'; readonly rejection: PayoutRejection };

/** A key of a merchant is always one payout. */
export function payoutIdOf(merchantId: string, key: string): string {
  return uuidv5(key, merchantId);
}

interface Requester {
  readonly merchantId: string;
  /** The key for `payoutIdOf`. */
  readonly key: string;
  readonly by: StepActor;
}

/** Requests a payout for a member or an operator. */
export async function requestAs(
  { db, workflows }: PayoutDependencies,
  { merchantId, key, by }: Requester,
  seen: PayableRun,
  now: Date,
): Promise<RequestedPayout> {
  const payoutId = payoutIdOf(merchantId, key);
  const before = await findPayoutRow(db, merchantId, payoutId);
  if (before) return { outcome: 'requested', payout: before };
  const rejection = await rejectionOf({ db, workflows }, { payoutId, merchantId, by }, seen, now);
  // The same request may have claimed the balance meanwhile.
  const payout = await findPayoutRow(db, merchantId, payoutId);
  if (payout) return { outcome: 'requested', payout };
  if (rejection) return { outcome: 'rejected', rejection };
  throw new Error(`Payout ${payoutId} was requested, but is not in the database`);
}

interface IdentifiedRequest {
  readonly payoutId: string;
  readonly merchantId: string;
  readonly by: StepActor;
}

/** Requests the payout. @returns null if it was requested */
async function rejectionOf(
  { db, workflows }: PayoutDependencies,
  request: IdentifiedRequest,
  seen: PayableRun,
  now: Date,
): Promise<PayoutRejection | null> {
  const { payoutId, merchantId } = request;
  const shown = await previewSeen(db, merchantId, seen, now);
  if (shown.outcome === 'possible' && isSameRun(shown, seen)) {
    if (!(await takeTurn({ db, workflows }, { payoutId, merchantId }))) return { code: 'request_pending' };
    const { outcome } = await workflows.request({ ...request, ...termsOf(payoutId, shown) });
    if (outcome === 'requested') return null;
  }
  // The lines that were seen may be claimed, while others are not: then the balance has changed.
  const whole = await previewPayout(db, merchantId, now);
  return whole.outcome === 'rejected' ? whole.rejection : { code: 'balance_changed' };
}

function isSameRun(one: PayableRun, other: PayableRun): boolean {
  return one.upToPostingId === other.upToPostingId && one.grossRupiah === other.grossRupiah;
}

/** What the request of a payout captures of its preview. */
export function termsOf(
  payoutId: string,
  { cell, account, providerAccountId, grossRupiah, afterPostingId, upToPostingId, rail }: PossiblePayout,
) {
  return {
    referenceId: referenceIdOf('LP', cell, payoutId),
    bankAccountId: account.id,
    providerAccountId,
    grossRupiah,
    feeRupiah: rail.policy.feeRupiah,
    amountRupiah: rail.amountRupiah,
    rail: rail.policy.rail,
    payoutPolicyId: rail.policy.id,
    afterPostingId,
    upToPostingId,
  };
}

/**
 * @param merchantId null: whatever the merchant is, for operators
 * @throws NotFoundError if the merchant has no such payout
 */
export async function findPayout(db: Queryable, merchantId: string | null, idOrReference: string): Promise<Payout> {
  const payout = await findPayoutRow(db, merchantId, idOrReference);
  if (!payout) throw new NotFoundError('payout', idOrReference);
  return payout;
}

/** The names of members who may approve the request; none if no other member has to. */
export async function listPayoutApprovers(
  db: Queryable,
  { merchantId, status, approvalKind, requestedBy }: Payout,
  limit: number,
): Promise<string[]> {
  if (status !== 'requested' || approvalKind !== 'second_user') return [];
  return listApproverNames(db, { merchantId, requestedBy, limit });
}

/** The payouts of a merchant, the newest first. */
export function listPayouts(db: Queryable, filter: PayoutFilter): Promise<Payout[]> {
  return listPayoutRows(db, filter);
}

export interface PayoutDetails extends Payout {
  readonly steps: readonly PayoutHistoryRow[];
}

/** By its id or its reference. @throws NotFoundError if the merchant has no such payout */
export async function getPayout(db: Queryable, merchantId: string, idOrReference: string): Promise<PayoutDetails> {
  const payout = await findPayout(db, merchantId, idOrReference);
  return { ...payout, steps: await listPayoutSteps(db, payout.id) };
}

/** What the payout has paid, in the order of the ledger. @throws NotFoundError if the merchant has no such payout */
export async function listPayoutLines(
  db: Queryable,
  merchantId: string,
  idOrReference: string,
  page: { readonly after: number; readonly limit: number },
): Promise<PayoutLine[]> {
  const { id } = await findPayout(db, merchantId, idOrReference);
  return listPayoutLineRows(db, id, page);
}
