import type { ActorIdentity, ActorText } from './actor';
import type { ApprovalKind, PayoutState } from './payout';
import type { PayoutStatus } from './payout-transitions';

/** What an operator knows of a payout from elsewhere: a bank statement, or a ticket of the bank. */
export const PAYOUT_RESOLUTIONS = ['completed', 'failed', 'returned'] as const;
export type PayoutResolution = (typeof PAYOUT_RESOLUTIONS)[number];

/** Whom an action is permitted. A key of a merchant can request none. */
const MEMBER_OR_OPERATOR = ['merchant_user', 'operator', 'os_user'] as const;
const OPERATOR = ['operator', 'os_user'] as const;

interface PayoutActionDefinition {
  readonly requestedBy: readonly ActorIdentity['kind'][];
  /** The Temporal update that requests it. */
  readonly update: string;
  readonly resolution?: PayoutResolution;
  /** In rejections: "cannot be …". */
  readonly pastParticiple: string;
  /** The activity that performs the action. */
  readonly step: string;
  readonly from: readonly PayoutStatus[];
  readonly to: PayoutStatus;
}

/** All that members and operators can request of a payout after its request. */
export const PAYOUT_ACTIONS = {
  approve: {
    requestedBy: MEMBER_OR_OPERATOR,
    update: 'approve',
    pastParticiple: 'approved',
    step: 'approvePayout',
    from: ['requested'],
    to: 'approved',
  },
  cancel: {
    requestedBy: MEMBER_OR_OPERATOR,
    update: 'cancel',
    pastParticiple: 'cancelled',
    step: 'cancelPayout',
    from: ['requested', 'approved'],
    to: 'cancelled',
  },
  resend: {
    requestedBy: OPERATOR,
    update: 'resend',
    pastParticiple: 'sent again',
    step: 'resendPayout',
    from: ['submitted'],
    to: 'submitted',
  },
  resolveAsCompleted: {
    requestedBy: OPERATOR,
    update: 'resolve',
    resolution: 'completed',
    pastParticiple: 'resolved as completed',
    step: 'resolvePayout',
    from: ['submitted', 'failed'],
    to: 'completed',
  },
  resolveAsFailed: {
    requestedBy: OPERATOR,
    update: 'resolve',
    resolution: 'failed',
    pastParticiple: 'resolved as failed',
    step: 'resolvePayout',
    from: ['submitted'],
    to: 'failed',
  },
  resolveAsReturned: {
    requestedBy: OPERATOR,
    update: 'resolve',
    resolution: 'returned',
    pastParticiple: 'resolved as returned',
    step: 'resolvePayout',
    from: ['completed'],
    to: 'returned',
  },
} as const satisfies Record<string, PayoutActionDefinition>;

export type PayoutAction = keyof typeof PAYOUT_ACTIONS;
export type PayoutUpdate = (typeof PAYOUT_ACTIONS)[PayoutAction]['update'];

export const RESOLVE_PAYOUT_ACTIONS = {
  completed: 'resolveAsCompleted',
  failed: 'resolveAsFailed',
  returned: 'resolveAsReturned',
} as const satisfies Record<PayoutResolution, PayoutAction>;

export function mayRequest(action: PayoutAction, identity: ActorIdentity | undefined): boolean {
  const { requestedBy }: PayoutActionDefinition = PAYOUT_ACTIONS[action];
  return identity !== undefined && requestedBy.includes(identity.kind);
}

/** Why the action is not possible in this status, in words for the caller; null if it is. */
export function payoutRejection(action: PayoutAction, { status }: Pick<PayoutState, 'status'>): string | null {
  const { from, pastParticiple }: PayoutActionDefinition = PAYOUT_ACTIONS[action];
  return from.includes(status) ? null : `A payout that is "${status}" cannot be ${pastParticiple}.`;
}

/** Why a payout is not approved by this actor. */
export type ApproverRejection =
  /** The workflow approves it. */
  'not_needed' | 'own_request' | 'by_member' | 'by_operator';

/** Who approves a payout, in words for operators. */
export const APPROVER_TEXTS = {
  not_needed: 'Lunas approves this payout itself.',
  own_request: 'Another member of the merchant has to approve it.',
  by_member: 'Another member of the merchant has to approve it.',
  by_operator: 'An operator of Lunas has to approve it.',
} as const satisfies Record<ApproverRejection, string>;

/**
 * Whom the request determined: the workflow itself, another member, or an operator. Pages and the activity decide by
 * it.
 * @param by undefined: the workflow
 */
export function findApproverRejection(
  kind: ApprovalKind,
  by: ActorText | undefined,
  requestedBy: string,
): ApproverRejection | null {
  const isMember = by?.startsWith('user:') ?? false;
  switch (kind) {
    case 'none':
      return by === undefined ? null : 'not_needed';
    case 'second_user':
      if (!isMember) return 'by_member';
      return by === requestedBy ? 'own_request' : null;
    case 'operator':
      return by !== undefined && !isMember ? null : 'by_operator';
  }
}
