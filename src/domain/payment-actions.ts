import type { StepActor } from './actor';
import type { PaymentState, PaymentTerms } from './payment';
import type { PaymentStatus } from './payment-transitions';
import { PROVIDER_CAPABILITIES } from './provider-capabilities';
import { MAX_REFUNDS } from './refund';

/** How an operator resolves a rejected refund: the customer has the money, or the merchant keeps it. */
export type RefundResolution = 'refunded' | 'paid';

interface ActionRule {
  readonly from: PaymentStatus;
  /** The activity that performs the action. */
  readonly step: string;
  readonly to: PaymentStatus;
}

export interface ActionDefinition {
  readonly requestedBy: readonly ('merchant' | 'operator')[];
  /** The Temporal update that requests it (`UpdateArguments`). */
  readonly update: string;
  readonly resolution?: RefundResolution;
  /** In rejections: "cannot be …". */
  readonly pastParticiple: string;
  /** One for each status in which the action is possible. */
  readonly rules: readonly ActionRule[];
}

/**
 * All that merchants and operators can request of a payment. Update handlers, client, operator API and CLI derive from
 * it.
 */
export const PAYMENT_ACTIONS = {
  cancel: {
    requestedBy: ['merchant', 'operator'],
    update: 'cancel',
    pastParticiple: 'cancelled',
    rules: [
      { from: 'pending', step: 'cancelPayment', to: 'cancelled' },
      { from: 'refund_processing', step: 'cancelRefund', to: 'paid' },
    ],
  },
  refund: {
    requestedBy: ['merchant', 'operator'],
    update: 'refund',
    pastParticiple: 'refunded',
    rules: [{ from: 'paid', step: 'requestRefund', to: 'refund_processing' }],
  },
  settle: {
    requestedBy: ['operator'],
    update: 'settle',
    pastParticiple: 'settled',
    rules: [{ from: 'paid', step: 'settlePayment', to: 'settled' }],
  },
  fail: {
    requestedBy: ['operator'],
    update: 'fail',
    pastParticiple: 'failed by an operator',
    rules: [
      { from: 'created', step: 'failPayment', to: 'failed' },
      { from: 'pending', step: 'failPayment', to: 'failed' },
    ],
  },
  retryRefund: {
    requestedBy: ['operator'],
    update: 'retryRefund',
    pastParticiple: 'refunded once more',
    rules: [{ from: 'refund_failed', step: 'retryRefund', to: 'refund_processing' }],
  },
  resolveRefundAsRefunded: {
    requestedBy: ['operator'],
    update: 'resolveRefund',
    resolution: 'refunded',
    pastParticiple: 'resolved as refunded',
    rules: [{ from: 'refund_failed', step: 'resolveRefundAsRefunded', to: 'refunded' }],
  },
  resolveRefundAsPaid: {
    requestedBy: ['operator'],
    update: 'resolveRefund',
    resolution: 'paid',
    pastParticiple: 'resolved as paid',
    rules: [{ from: 'refund_failed', step: 'resolveRefundAsPaid', to: 'paid' }],
  },
  // In a sandbox: what a timer of the payment would do, before its time. In production their steps are rejected.
  expireNow: {
    requestedBy: ['operator'],
    update: 'expireNow',
    pastParticiple: 'expired',
    rules: [{ from: 'pending', step: 'expireNow', to: 'expired' }],
  },
  settleNow: {
    requestedBy: ['operator'],
    update: 'settleNow',
    pastParticiple: 'settled',
    rules: [{ from: 'paid', step: 'settleNow', to: 'settled' }],
  },
  submitRefundNow: {
    requestedBy: ['operator'],
    update: 'submitRefundNow',
    pastParticiple: 'sent to the provider as a refund',
    rules: [{ from: 'refund_processing', step: 'submitRefundNow', to: 'refund_processing' }],
  },
} as const satisfies Record<string, ActionDefinition>;

export type PaymentAction = keyof typeof PAYMENT_ACTIONS;
export type PaymentUpdate = (typeof PAYMENT_ACTIONS)[PaymentAction]['update'];

type RequestedBy<Role> = {
  [Action in PaymentAction]: Role extends (typeof PAYMENT_ACTIONS)[Action]['requestedBy'][number] ? Action : never;
}[PaymentAction];
export type MerchantPaymentAction = RequestedBy<'merchant'>;
export type OperatorPaymentAction = RequestedBy<'operator'>;

/** The action of each resolution. */
export const RESOLVE_ACTIONS = {
  refunded: 'resolveRefundAsRefunded',
  paid: 'resolveRefundAsPaid',
} as const satisfies Record<RefundResolution, OperatorPaymentAction>;

export const MERCHANT: StepActor = { name: 'merchant' };

/** The actor of a signal: an operator in the Web UI, or anyone else who reaches Temporal. */
export const UNPROVEN_OPERATOR: StepActor = { name: 'operator', note: 'signalled to the workflow' };

/** The rule of the action for the payment's status; undefined if the status does not allow the action. */
export function ruleFor(action: PaymentAction, { status }: PaymentState) {
  return PAYMENT_ACTIONS[action].rules.find((rule) => rule.from === status);
}

/** Why an action is not possible. The API has an English sentence for each, the dashboard one in each language. */
export const REJECTION_CODES = [
  'provider_cannot_cancel',
  'provider_cannot_refund',
  'not_issued',
  'not_paid',
  'paid',
  'settled',
  'ended',
  'refund_in_progress',
  'refund_failed',
  'refunded',
  'refund_submitted',
  'refund_limit',
  'settlement_delay',
  'other_status',
] as const;
export type RejectionCode = (typeof REJECTION_CODES)[number];

export interface ActionRejection {
  readonly code: RejectionCode;
  /** For `settlement_delay`: the end of the delay, in milliseconds since 1970. */
  readonly dueAtMs?: number;
}

const UNPAID_END = { expired: 'ended', failed: 'ended', cancelled: 'ended' } as const;
const REFUND_STEPS = {
  refund_processing: 'refund_in_progress',
  refund_failed: 'refund_failed',
  refunded: 'refunded',
} as const;

/** What a status means for an action that it does not allow. */
const STATUS_REJECTIONS: Readonly<Record<MerchantPaymentAction, Partial<Record<PaymentStatus, RejectionCode>>>> = {
  cancel: { created: 'not_issued', paid: 'paid', settled: 'settled', ...UNPAID_END, ...REFUND_STEPS },
  refund: {
    created: 'not_paid',
    pending: 'not_paid',
    expired: 'not_paid',
    failed: 'not_paid',
    cancelled: 'not_paid',
    settled: 'settled',
    ...REFUND_STEPS,
  },
};

/**
 * Why the action cannot be performed in this state; null if it can be. This one function decides for the API, the
 * workflow, the button of a page and its form. If the state has no refund, the checks of the refund are skipped.
 */
export function findRejection(
  action: PaymentAction,
  { provider }: Pick<PaymentTerms, 'provider'>,
  state: PaymentState,
  nowMs: number,
): ActionRejection | null {
  const { status, refund } = state;
  if (action === 'cancel' && !PROVIDER_CAPABILITIES[provider].cancel) return { code: 'provider_cannot_cancel' };
  if (action === 'refund' && !PROVIDER_CAPABILITIES[provider].refund) return { code: 'provider_cannot_refund' };
  if (!ruleFor(action, state)) return { code: statusRejection(action, status) };
  if (action === 'cancel' && status === 'refund_processing' && refund && refund.status !== 'held') {
    return { code: 'refund_submitted' };
  }
  // What the provider refunds by itself is counted beyond the limit.
  if ((action === 'refund' || action === 'retryRefund') && refund && refund.number >= MAX_REFUNDS) {
    return { code: 'refund_limit' };
  }
  if (action === 'submitRefundNow' && refund && refund.status !== 'held') return { code: 'refund_submitted' };
  const dueAtMs = state.settlesAtMs ?? nowMs;
  return action === 'settle' && nowMs < dueAtMs ? { code: 'settlement_delay', dueAtMs } : null;
}

function statusRejection(action: PaymentAction, status: PaymentStatus): RejectionCode {
  const codes = action === 'cancel' || action === 'refund' ? STATUS_REJECTIONS[action] : {};
  return codes[status] ?? 'other_status';
}

/** `findRejection` as the sentence of the API and of the workflow; null if the action can be performed. */
export function rejectionReason(
  action: PaymentAction,
  terms: Pick<PaymentTerms, 'provider'>,
  state: PaymentState,
  nowMs: number,
): string | null {
  const rejection = findRejection(action, terms, state, nowMs);
  if (rejection === null) return null;
  const { pastParticiple } = PAYMENT_ACTIONS[action];
  switch (rejection.code) {
    case 'provider_cannot_cancel':
    case 'provider_cannot_refund':
      return `${terms.provider} does not support it: its transactions cannot be ${pastParticiple}.`;
    case 'refund_submitted':
      return action === 'cancel'
        ? 'The refund is with the provider already and can no longer be cancelled.'
        : 'The refund is with the provider already.';
    case 'refund_limit':
      return `There were ${MAX_REFUNDS} refunds of this transaction already, which is the most there can be.`;
    case 'settlement_delay':
      return `Its settlement delay is not over before ${new Date(rejection.dueAtMs ?? nowMs).toISOString()}.`;
    default:
      return `A transaction that is "${state.status}" cannot be ${pastParticiple}.`;
  }
}
