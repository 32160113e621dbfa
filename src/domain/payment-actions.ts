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
  /** The name of an operator's action in the audit log. */
  readonly auditName?: string;
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
    auditName: 'payment.cancel',
    pastParticiple: 'cancelled',
    rules: [
      { from: 'pending', step: 'cancelPayment', to: 'cancelled' },
      { from: 'refund_processing', step: 'cancelRefund', to: 'paid' },
    ],
  },
  refund: {
    requestedBy: ['merchant', 'operator'],
    update: 'refund',
    auditName: 'payment.refund',
    pastParticiple: 'refunded',
    rules: [{ from: 'paid', step: 'requestRefund', to: 'refund_processing' }],
  },
  settle: {
    requestedBy: ['operator'],
    update: 'settle',
    auditName: 'payment.settle',
    pastParticiple: 'settled',
    rules: [{ from: 'paid', step: 'settlePayment', to: 'settled' }],
  },
  fail: {
    requestedBy: ['operator'],
    update: 'fail',
    auditName: 'payment.fail',
    pastParticiple: 'failed by an operator',
    rules: [
      { from: 'created', step: 'failPayment', to: 'failed' },
      { from: 'pending', step: 'failPayment', to: 'failed' },
    ],
  },
  retryRefund: {
    requestedBy: ['operator'],
    update: 'retryRefund',
    auditName: 'refund.retry',
    pastParticiple: 'refunded once more',
    rules: [{ from: 'refund_failed', step: 'retryRefund', to: 'refund_processing' }],
  },
  resolveRefundAsRefunded: {
    requestedBy: ['operator'],
    update: 'resolveRefund',
    resolution: 'refunded',
    auditName: 'refund.resolve_as_refunded',
    pastParticiple: 'resolved as refunded',
    rules: [{ from: 'refund_failed', step: 'resolveRefundAsRefunded', to: 'refunded' }],
  },
  resolveRefundAsPaid: {
    requestedBy: ['operator'],
    update: 'resolveRefund',
    resolution: 'paid',
    auditName: 'refund.resolve_as_paid',
    pastParticiple: 'resolved as paid',
    rules: [{ from: 'refund_failed', step: 'resolveRefundAsPaid', to: 'paid' }],
  },
  // In a sandbox: what a timer of the payment would do, before its time. In production their steps are rejected.
  expireNow: {
    requestedBy: ['operator'],
    update: 'expireNow',
    auditName: 'sandbox.expire',
    pastParticiple: 'expired',
    rules: [{ from: 'pending', step: 'expireNow', to: 'expired' }],
  },
  settleNow: {
    requestedBy: ['operator'],
    update: 'settleNow',
    auditName: 'sandbox.settle',
    pastParticiple: 'settled',
    rules: [{ from: 'paid', step: 'settleNow', to: 'settled' }],
  },
  submitRefundNow: {
    requestedBy: ['operator'],
    update: 'submitRefundNow',
    auditName: 'sandbox.submit_refund',
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

/** By resolution. */
export const RESOLVE_ACTIONS = {
  refunded: 'resolveRefundAsRefunded',
  paid: 'resolveRefundAsPaid',
} as const satisfies Record<RefundResolution, OperatorPaymentAction>;

/** The timers of a payment that `lunas trigger` fires, with the actions that do so. */
export const TIMER_ACTIONS = {
  expire: 'expireNow',
  settle: 'settleNow',
  'submit-refund': 'submitRefundNow',
} as const satisfies Record<string, OperatorPaymentAction>;

export const MERCHANT: StepActor = { name: 'merchant' };

/** The actor of a signal: an operator in the Web UI, or anyone else who reaches Temporal. */
export const UNPROVEN_OPERATOR: StepActor = { name: 'operator', note: 'signalled to the workflow' };
/** The rule of the action for the payment's status; undefined if the status does not allow the action. */
export function ruleFor(action: PaymentAction, { status }: PaymentState) {
  return PAYMENT_ACTIONS[action].rules.find((rule) => rule.from === status);
}

/**
 * Why the action cannot be performed in this state, in words for the caller; null if it can be. If the state has no
 * refund, the checks of the refund are skipped.
 */
export function rejectionReason(
  action: PaymentAction,
  { provider }: Pick<PaymentTerms, 'provider'>,
  state: PaymentState,
  nowMs: number,
): string | null {
  const { status, refund } = state;
  const { pastParticiple } = PAYMENT_ACTIONS[action];
  if ((action === 'cancel' || action === 'refund') && !PROVIDER_CAPABILITIES[provider][action]) {
    return `${provider} does not support it: its transactions cannot be ${pastParticiple}.`;
  }
  if (!ruleFor(action, state)) return `A transaction that is "${status}" cannot be ${pastParticiple}.`;
  if (action === 'cancel' && status === 'refund_processing' && refund && refund.status !== 'held') {
    return 'The refund is with the provider already and can no longer be cancelled.';
  }
  if ((action === 'refund' || action === 'retryRefund') && refund?.number === MAX_REFUNDS) {
    return `There were ${MAX_REFUNDS} refunds of this transaction already, which is the most there can be.`;
  }
  if (action === 'submitRefundNow' && refund && refund.status !== 'held') {
    return 'The refund is with the provider already.';
  }
  const dueMs = state.settlesAtMs ?? nowMs;
  if (action === 'settle' && nowMs < dueMs) {
    return `Its settlement delay is not over before ${new Date(dueMs).toISOString()}.`;
  }
  return null;
}
