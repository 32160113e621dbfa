import { z } from 'zod';
import { listOperatorPayoutSteps, type Payout } from '../../db/payouts/list-payouts';
import { actorText, toStepActor, type Person, type Scope } from '../../domain/actor';
import { describeAccount } from '../../domain/banks';
import { payoutRejection, type PayoutAction } from '../../domain/payout-actions';
import { PAYOUT_STATUSES, type PayoutTransitionName } from '../../domain/payout-transitions';
import type { AuditDependencies } from '../audit/audit';
import type { Act, ActOn } from '../operations/operation-spec';
import { done, notKnown, rejected, type Reasons, type RejectionTexts } from '../operations/rejections';
import { isTemporalAway, temporalMessage, temporalReason, type TemporalState } from '../operations/temporal-away';
import { findPayout, type PayoutWorkflows } from './payouts';

/* What the acts on a payout have in common: its workflow performs them, in the version that the person has seen. */

export interface PayoutActNeeds extends AuditDependencies, TemporalState {
  readonly workflows: { readonly payouts: Pick<PayoutWorkflows, 'perform'> };
}

/** The UUID of a payout, or its reference. */
export const payoutPath = z.object({ payout: z.string() });

/** The version that the person has seen; absent: the newest one. */
export const seenVersion = z.object({ version: z.int().optional() });

export const actReasons = {
  wrong_status: { status: z.enum(PAYOUT_STATUSES), sentence: z.string() },
  /** By the workflow. */
  refused: { sentence: z.string() },
  /** The payout has another version than the one that the person has seen. */
  superseded: {},
  ...temporalReason,
} as const satisfies Reasons;

export const actMessages: RejectionTexts<typeof actReasons> = {
  wrong_status: ({ sentence }) => sentence,
  refused: ({ sentence }) => sentence,
  superseded: () => 'The payout has changed meanwhile: look at it again.',
  ...temporalMessage,
};

/** @throws NotFoundError if the person reaches no such payout */
export function loadPayout(
  { db }: PayoutActNeeds,
  scope: Scope,
  { payout }: z.output<typeof payoutPath>,
): Promise<Payout> {
  return findPayout(db, scope === 'all' ? null : scope.merchantId, payout);
}

/** What the declarations have in common. */
export const ON_PAYOUT = {
  path: payoutPath,
  rejections: actReasons,
  messages: actMessages,
  load: loadPayout,
  target: ({ subject }: ActOn<Payout, unknown>) => subject.id,
} as const;

/** In production two operators approve the act on this version, whatever the amount is. */
export const payoutApproval = {
  executes: 'workflow',
  target: ({ subject: { referenceId, bankCode, lastFour } }: ActOn<Payout, unknown>) =>
    `${referenceId} to ${describeAccount(bankCode, lastFour)}`,
  path: ({ id }: Payout) => ({ payout: id }),
  amountRupiah: ({ subject }: ActOn<Payout, unknown>) => subject.amountRupiah,
  replaces: ({ version }: Payout) => version,
} as const;

/** Why PostgreSQL's state of the payout does not allow the act. The workflow compares it again. */
export function findStateRejection(
  action: PayoutAction,
  payout: Payout,
  by: Person,
  { version }: z.output<typeof seenVersion> = {},
) {
  const agreed = by.kind === 'merchant_user' ? undefined : by.approval?.expectedVersion;
  if ((agreed ?? version ?? payout.version) !== payout.version) return { reason: 'superseded' } as const;
  const sentence = payoutRejection(action, payout);
  return sentence === null ? null : ({ reason: 'wrong_status', status: payout.status, sentence } as const);
}

type PayoutAct = Act<PayoutActNeeds, Payout, z.output<typeof seenVersion>>;

/** @param note in the history of the payout */
export async function actOnPayout(
  { needs, by, subject: { id: payoutId, merchantId, version }, input, approval }: PayoutAct,
  action: PayoutAction,
  note: string | undefined,
) {
  if (await isTemporalAway(needs)) return rejected({ reason: 'temporal_away' });
  const seen = { payoutId, merchantId, version: approval?.replaces ?? input.version ?? version };
  const result = await needs.workflows.payouts.perform(seen, action, toStepActor(by, note)).catch(notKnown);
  switch (result.outcome) {
    case 'done':
      return done(await findPayout(needs.db, by.kind === 'merchant_user' ? merchantId : null, payoutId));
    case 'rejected':
      return rejected({ reason: 'refused', sentence: result.reason });
    case 'outdated':
      return rejected({ reason: 'superseded' });
    case 'unknown':
      return result;
  }
}

const TRANSITIONS: Readonly<Record<PayoutAction, readonly PayoutTransitionName[]>> = {
  approve: ['approve'],
  cancel: ['cancel_request', 'cancel'],
  resend: ['resend'],
  resolveAsCompleted: ['resolve_as_completed', 'resolve_failed_as_completed'],
  resolveAsFailed: ['resolve_as_failed'],
  resolveAsReturned: ['resolve_as_returned'],
};

/**
 * The payout, if the action was performed already: the process may have ended before it recorded the outcome, or the
 * workflow may have performed it after the person had no response. With an approval, the transition that left the
 * approved version is that of the action: a trigger permits it only to the approval. An operator who names no version
 * repeats their own last step, if the action is not possible any more.
 */
export async function findPerformed(
  { needs: { db }, by, subject: payout, input, approval }: PayoutAct,
  action: PayoutAction,
): Promise<Payout | null> {
  const seen = approval?.replaces ?? payout.version;
  const isOwn = approval === null && by.kind !== 'merchant_user' && input.version === undefined;
  const isOpen = isOwn ? payoutRejection(action, payout) === null : seen === payout.version;
  if (isOpen) return null;
  const steps = await listOperatorPayoutSteps(db, payout.id);
  const step = isOwn
    ? steps.findLast(({ actor }) => actor === actorText(by))
    : steps.find(({ version }) => version === seen + 1);
  return step !== undefined && TRANSITIONS[action].includes(step.name) ? payout : null;
}
