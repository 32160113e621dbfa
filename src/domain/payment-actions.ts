import type { PaymentState, PaymentTerms } from './payment';
import type { PaymentStatus } from './payment-transitions';
import { PROVIDER_CAPABILITIES } from './provider-capabilities';
import { MAX_REFUNDS } from './refund';

interface RequestRule {
  readonly from: PaymentStatus;
  /** The activity that does it. */
  readonly step: string;
  readonly to: PaymentStatus;
}

/** What merchants and operators can ask of a payment: from which status, by which step, and where it leads. */
export const PAYMENT_ACTIONS = {
  cancel: [
    { from: 'pending', step: 'cancelPayment', to: 'cancelled' },
    { from: 'refund_processing', step: 'cancelRefund', to: 'paid' },
  ],
  refund: [{ from: 'paid', step: 'requestRefund', to: 'refund_processing' }],
  settle: [{ from: 'paid', step: 'settlePayment', to: 'settled' }],
  fail: [
    { from: 'created', step: 'failPayment', to: 'failed' },
    { from: 'pending', step: 'failPayment', to: 'failed' },
  ],
  retryRefund: [{ from: 'refund_failed', step: 'retryRefund', to: 'refund_processing' }],
  resolveRefundAsRefunded: [{ from: 'refund_failed', step: 'resolveRefundAsRefunded', to: 'refunded' }],
  resolveRefundAsPaid: [{ from: 'refund_failed', step: 'resolveRefundAsPaid', to: 'paid' }],
} as const satisfies Record<string, readonly RequestRule[]>;

export type PaymentAction = keyof typeof PAYMENT_ACTIONS;

/** In the words of a refusal: it cannot be … */
const PAST_PARTICIPLES = {
  cancel: 'cancelled',
  refund: 'refunded',
  settle: 'settled',
  fail: 'failed by an operator',
  retryRefund: 'refunded once more',
  resolveRefundAsRefunded: 'resolved as refunded',
  resolveRefundAsPaid: 'resolved as paid',
} as const satisfies Record<PaymentAction, string>;

/** The rule by which a request is served where the payment stands; undefined where it cannot be. */
export function ruleFor(request: PaymentAction, { status }: PaymentState) {
  return PAYMENT_ACTIONS[request].find((rule) => rule.from === status);
}

/**
 * Why a request cannot be served where the payment stands, in words for whoever asked; null when it can. Where the state does
 * not tell about the refund, that is not judged.
 */
export function rejectionReason(
  request: PaymentAction,
  { provider }: Pick<PaymentTerms, 'provider'>,
  state: PaymentState,
  nowMs: number,
): string | null {
  const { status, refund } = state;
  if ((request === 'cancel' || request === 'refund') && !PROVIDER_CAPABILITIES[provider][request]) {
    return `${provider} does not support it: its transactions cannot be ${PAST_PARTICIPLES[request]}.`;
  }
  if (!ruleFor(request, state)) return `A transaction that is "${status}" cannot be ${PAST_PARTICIPLES[request]}.`;
  if (request === 'cancel' && status === 'refund_processing' && refund && refund.status !== 'held') {
    return 'The refund is with the provider already and can no longer be cancelled.';
  }
  if ((request === 'refund' || request === 'retryRefund') && refund?.number === MAX_REFUNDS) {
    return `There were ${MAX_REFUNDS} refunds of this transaction already, which is the most there can be.`;
  }
  const dueMs = state.settlesAtMs ?? nowMs;
  if (request === 'settle' && nowMs < dueMs) {
    return `Its settlement delay is not over before ${new Date(dueMs).toISOString()}.`;
  }
  return null;
}
