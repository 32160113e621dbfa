import {
  ApplicationFailure,
  condition,
  currentUpdateInfo,
  defineSignal,
  defineUpdate,
  setHandler,
} from '@temporalio/workflow';
import { parseCorrelation, type Correlation } from '../src/domain/correlation';
import type { PaymentState, PaymentTerms } from '../src/domain/payment';
import {
  rejectionReason,
  RESOLVE_ACTIONS,
  UNPROVEN_OPERATOR,
  type PaymentAction,
  type PaymentUpdate,
  type RefundResolution,
} from '../src/domain/payment-actions';
import type { PaymentStatus } from '../src/domain/payment-transitions';
import { actorRejection, isProofOf, updateProof, type UpdateArguments } from '../src/domain/update-arguments';
import type { Actor } from '../src/domain/workflow-step';
import {
  createUpdate,
  PAID_SIGNAL_DESCRIPTION,
  paidSignal,
  REQUEST_OUTDATED,
  REQUEST_REJECTED,
  statusQuery,
  type PaymentWorkflowStatus,
} from './messages';

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

/** A request in the queue of the payment's workflow. */
export interface QueuedRequest {
  readonly action: PaymentAction;
  readonly actor: Actor;
  readonly correlation?: Correlation | undefined;
  /** Takes the reason of the rejection, or null if the action was performed. */
  readonly complete: (rejection: string | null) => void;
}

/** What the handlers read of the payment. */
interface MessageTarget {
  readonly terms: PaymentTerms;
  readonly state: PaymentState;
  workflowStatus(): PaymentWorkflowStatus;
}

/** The handlers of a payment's messages, and the requests that wait in the queue. */
export class PaymentMessages {
  /** The status at the provider may have changed since the last status query. */
  hasProviderUpdate = false;
  readonly #payment: MessageTarget;
  readonly #requests: QueuedRequest[] = [];

  constructor(payment: MessageTarget) {
    this.#payment = payment;
    setHandler(
      createUpdate,
      async () => {
        await condition(() => payment.state.status !== 'created');
        return payment.state.status;
      },
      { description: 'Sent with the start. Completes when the QR code is issued, or the payment failed.' },
    );
    for (const update of keysOf(UPDATE_DESCRIPTIONS)) this.#handleUpdate(update);
    for (const action of keysOf(SIGNAL_DESCRIPTIONS)) {
      const description = SIGNAL_DESCRIPTIONS[action];
      setHandler(defineSignal(action), () => this.enqueueWithoutCaller(action, UNPROVEN_OPERATOR), { description });
    }
    setHandler(
      paidSignal,
      () => {
        this.hasProviderUpdate = true;
      },
      { description: PAID_SIGNAL_DESCRIPTION },
    );
    setHandler(statusQuery, () => payment.workflowStatus(), {
      description: 'The status of the payment, and what the workflow waits for.',
    });
  }

  get hasRequests(): boolean {
    return this.#requests.length > 0;
  }

  hasRequest(action: PaymentAction): boolean {
    return this.#requests.some((request) => request.action === action);
  }

  nextRequest(): QueuedRequest | undefined {
    return this.#requests.shift();
  }

  /** Rejects what no status allows any more. */
  rejectAll(): void {
    for (const { action, complete } of this.#requests) complete(this.rejectionReason(action));
  }

  /** Adds a request whose result no caller waits for. */
  enqueueWithoutCaller(action: PaymentAction, actor: Actor): void {
    this.#requests.push({ action, actor, complete: () => undefined });
  }

  rejectionReason(action: PaymentAction): string | null {
    return rejectionReason(action, this.#payment.terms, this.#payment.state, Date.now());
  }

  /**
   * Waits for a request or a provider update; without a timer, as long as that takes.
   * @param timer its name in the Web UI is its `summary`
   */
  async wait(timer?: { readonly afterMs: number; readonly summary: string }): Promise<void> {
    const hasMessage = () => this.hasProviderUpdate || this.hasRequests;
    await (timer ? condition(hasMessage, timer.afterMs, { summary: timer.summary }) : condition(hasMessage));
  }

  #handleUpdate(update: PaymentUpdate): void {
    setHandler(
      defineUpdate<PaymentStatus, [...UpdateArguments]>(update),
      ({ name, note }, resolution, _proof, correlation) => {
        const actor = note === undefined ? { name } : { name, note };
        return this.#enqueue({
          action: toAction(update, resolution),
          actor,
          correlation: parseCorrelation(correlation),
        });
      },
      {
        description: UPDATE_DESCRIPTIONS[update],
        validator: (...given: [...UpdateArguments]) => this.#validate(update, given),
      },
    );
  }

  #enqueue(request: Omit<QueuedRequest, 'complete'>): Promise<PaymentStatus> {
    return new Promise((resolve, reject) => {
      const complete = (rejection: string | null) => {
        if (rejection === null) resolve(this.#payment.state.status);
        else reject(this.#rejected(rejection));
      };
      this.#requests.push({ ...request, complete });
    });
  }

  /** Anyone who reaches Temporal can send an update: its arguments prove that Lunas sent it. */
  #validate(update: PaymentUpdate, given: UpdateArguments): void {
    const [actor, resolution, proof] = given;
    const action = toAction(update, resolution);
    const updateId = currentUpdateInfo()?.id ?? '';
    const isProven = isProofOf(update, updateId, proof);
    const unproven = isProven ? null : 'The arguments of the request belong to no request or to another one.';
    const unsent = actorRejection(action, actor) ?? unproven;
    if (unsent !== null) throw this.#rejected(unsent);
    const { version } = this.#payment.state;
    if (proof !== updateProof(update, updateId, version)) {
      throw ApplicationFailure.nonRetryable('The payment has another version.', REQUEST_OUTDATED, version);
    }
    const rejection = this.rejectionReason(action);
    if (rejection !== null) throw this.#rejected(rejection);
  }

  /**
   * Carries the status in the workflow: PostgreSQL may have a step whose result Temporal lost and which is repeated
   * now.
   */
  #rejected(reason: string): ApplicationFailure {
    return ApplicationFailure.nonRetryable(reason, REQUEST_REJECTED, this.#payment.state.status);
  }
}

function toAction(update: PaymentUpdate, resolution: RefundResolution | null): PaymentAction {
  if (update !== 'resolveRefund') return update;
  return resolution === 'refunded' ? RESOLVE_ACTIONS.refunded : RESOLVE_ACTIONS.paid;
}

function keysOf<Table extends object>(table: Table): Extract<keyof Table, string>[] {
  const keys: Extract<keyof Table, string>[] = [];
  for (const key in table) keys.push(key);
  return keys;
}
