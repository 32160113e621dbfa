import {
  ApplicationFailure,
  condition,
  currentUpdateInfo,
  defineSignal,
  defineUpdate,
  setHandler,
} from '@temporalio/workflow';
import { parseCorrelation } from '../src/domain/correlation';
import type { PaymentState } from '../src/domain/payment';
import {
  RESOLVE_ACTIONS,
  UNPROVEN_OPERATOR,
  type PaymentAction,
  type PaymentUpdate,
  type RefundResolution,
} from '../src/domain/payment-actions';
import type { PaymentStatus } from '../src/domain/payment-transitions';
import { actorRejection, isProofOf, updateProof, type UpdateArguments } from '../src/domain/update-arguments';
import { keysOf } from './keys-of';
import {
  createUpdate,
  PAID_SIGNAL_DESCRIPTION,
  paidSignal,
  REQUEST_OUTDATED,
  REQUEST_REJECTED,
  statusQuery,
} from './messages';
import type { PaymentRun } from './payment-run';
import type { QueuedRequest, RequestQueue } from './request-queue';

/** In the order in which the handlers are set: Temporal delivers buffered messages in that order. */
const UPDATE_DESCRIPTIONS = {
  cancel: 'Cancels the payment, or its refund while the refund is held.',
  refund: 'Refunds the customer. Completes when the refund is held.',
  settle: 'An operator settles the payment, once its settlement delay is over.',
  fail: 'An operator fails the payment. Rejected if the provider reports the order as pending or paid.',
  retryRefund: 'An operator retries a rejected refund, under a new key.',
  resolveRefund: 'An operator resolves a rejected refund: the customer has the money (`refunded`), or not (`paid`).',
  expireNow: 'In a sandbox: expires the payment before its deadline.',
  settleNow: 'In a sandbox: settles the payment before its settlement delay is over.',
  submitRefundNow: 'In a sandbox: ends the hold of the refund.',
} as const satisfies Record<PaymentUpdate, string>;

const SIGNAL_DESCRIPTIONS = {
  cancel: 'Cancels a pending payment, or a refund that is held.',
  refund: 'Refunds the customer of a paid payment.',
  settle: 'Settles a paid payment of manual settlement, once its settlement delay is over.',
} as const satisfies Partial<Record<PaymentAction, string>>;

/** What a validator reads of the payment. */
type ValidatedPayment = Pick<PaymentRun, 'state' | 'rejectionReason'>;

/** Sets the handlers of a payment's messages. They read the payment's state, and add to the queue. */
export function handlePaymentMessages(payment: PaymentRun, queue: RequestQueue<PaymentAction>): void {
  setHandler(
    createUpdate,
    async () => {
      await condition(() => payment.state.status !== 'created');
      return payment.state.status;
    },
    { description: 'Sent with the start. Completes when the QR code is issued, or the payment failed.' },
  );
  for (const update of keysOf(UPDATE_DESCRIPTIONS)) handleUpdate(update, payment, queue);
  for (const action of keysOf(SIGNAL_DESCRIPTIONS)) {
    const description = SIGNAL_DESCRIPTIONS[action];
    setHandler(defineSignal(action), () => queue.addWithoutCaller(action, UNPROVEN_OPERATOR), { description });
  }
  setHandler(paidSignal, () => queue.addProviderUpdate(), { description: PAID_SIGNAL_DESCRIPTION });
  setHandler(statusQuery, () => payment.workflowStatus(), {
    description: 'The status of the payment, and what the workflow waits for.',
  });
}

function handleUpdate(update: PaymentUpdate, payment: ValidatedPayment, queue: RequestQueue<PaymentAction>): void {
  const toRequest = (...[{ name, note }, resolution, , correlation]: UpdateArguments) => ({
    action: toAction(update, resolution),
    actor: note === undefined ? { name } : { name, note },
    correlation: parseCorrelation(correlation),
  });
  setHandler(
    defineUpdate<PaymentStatus, [...UpdateArguments]>(update),
    (...given) => performed(toRequest(...given), payment, queue),
    {
      description: UPDATE_DESCRIPTIONS[update],
      validator: (...given: [...UpdateArguments]) => validate(update, given, payment),
    },
  );
}

/** @returns the status of the payment after the workflow performed the request */
async function performed(
  request: Omit<QueuedRequest<PaymentAction>, 'complete'>,
  payment: ValidatedPayment,
  queue: RequestQueue<PaymentAction>,
): Promise<PaymentStatus> {
  const rejection = await queue.request(request);
  if (rejection !== null) throw rejected(rejection, payment.state);
  return payment.state.status;
}

/** Anyone who reaches Temporal can send an update: its arguments prove that Lunas sent it. */
function validate(update: PaymentUpdate, given: UpdateArguments, payment: ValidatedPayment): void {
  const [actor, resolution, proof] = given;
  const { state } = payment;
  const action = toAction(update, resolution);
  const updateId = currentUpdateInfo()?.id ?? '';
  const isProven = isProofOf(update, updateId, proof);
  const unproven = isProven ? null : 'The arguments of the request belong to no request or to another one.';
  const unsent = actorRejection(action, actor) ?? unproven;
  if (unsent !== null) throw rejected(unsent, state);
  if (proof !== updateProof(update, updateId, state.version)) {
    throw ApplicationFailure.nonRetryable('The payment has another version.', REQUEST_OUTDATED, state.version);
  }
  const rejection = payment.rejectionReason(action);
  if (rejection !== null) throw rejected(rejection, state);
}

/**
 * Carries the status in the workflow: PostgreSQL may have a step whose result Temporal lost and which is repeated now.
 */
function rejected(reason: string, { status }: PaymentState): ApplicationFailure {
  return ApplicationFailure.nonRetryable(reason, REQUEST_REJECTED, status);
}

function toAction(update: PaymentUpdate, resolution: RefundResolution | null): PaymentAction {
  if (update !== 'resolveRefund') return update;
  return resolution === 'refunded' ? RESOLVE_ACTIONS.refunded : RESOLVE_ACTIONS.paid;
}
