import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  patched,
  workflowInfo,
} from '@temporalio/workflow';
import { OPERATOR_STEPS } from '../src/domain/operator-steps';
import { APPROVAL_PERIOD_DAYS } from '../src/domain/payout';
import { PAYOUT_ACTIONS, payoutRejection, type PayoutAction } from '../src/domain/payout-actions';
import { DEFERRAL_TEXTS, type PayoutDeferral, type PayoutInput } from '../src/domain/payout-step';
import { isResting, type PayoutStatus, type RestingPayoutStatus } from '../src/domain/payout-transitions';
import { authentic } from './authentic';
import { handlePayoutMessages, OTHER_VERSION } from './payout-messages';
import { PayoutRun, type PayoutStepName, type StepOptions } from './payout-run';
import { RequestQueue, type QueuedRequest } from './request-queue';
import { DAY_MS, HOUR_MS, MAX_HISTORY_EVENTS, SECOND_MS } from './retry-policies';
import { forceSingleBatchActivation } from './sdk-single-batch-flag';
import { PATCHES } from './versions';

/**
 * One payout, from the request of its balance until the bank has executed it or not. It starts again if the bank
 * reports something else later. Temporal's cancellation has no effect: the bank may have the payout.
 * @returns null if the request was rejected
 */
export function payout(input: PayoutInput): Promise<PayoutStatus | null> {
  return CancellationScope.nonCancellable(async () => {
    forceSingleBatchActivation();
    return new PayoutWorkflow(authentic(input)).run();
  });
}

type OpenPayoutStatus = Exclude<PayoutStatus, RestingPayoutStatus>;

/** The workflow of one payout: a method for each open status, which returns if the status or the queue has changed. */
class PayoutWorkflow {
  readonly #queue = new RequestQueue<PayoutAction>();
  readonly #payout: PayoutRun;
  readonly #statusHandlers: Readonly<Record<OpenPayoutStatus, () => Promise<unknown>>> = {
    requested: () => this.#awaitApproval(),
    approved: () => this.#submit(),
    submitted: () => this.#awaitBank(),
  };

  constructor(input: PayoutInput) {
    this.#payout = new PayoutRun(input, this.#queue);
  }

  async run(): Promise<PayoutStatus | null> {
    const begun = this.#payout.begin();
    handlePayoutMessages({ payout: this.#payout, queue: this.#queue, begun });
    const isRequested = (await begun).outcome === 'requested';
    // The handler of an update that arrived before the row was read adds its request only now.
    do {
      if (isRequested) await this.#follow();
      await condition(() => allHandlersFinished() || this.#queue.hasRequests);
    } while (this.#queue.hasRequests);
    return this.#payout.isLoaded ? this.#payout.state.status : null;
  }

  /** Until the payout rests and nothing is in the queue. */
  async #follow(): Promise<unknown> {
    for (;;) {
      if (this.#isHistoryLong()) return continueAsNew<typeof payout>(this.#payout.toInput());
      const request = this.#queue.takeRequest();
      const { status } = this.#payout.state;
      if (request) await this.#handleRequest(request);
      else if (!isResting(status)) await this.#statusHandlers[status]();
      else if (this.#queue.takeProviderUpdate()) await this.#payout.perform('syncPayout');
      else return undefined;
    }
  }

  /** By the workflow itself, unless a second member or an operator has to approve it. What is not sent needs none. */
  async #awaitApproval(): Promise<unknown> {
    const { approvalKind, requestedAtMs } = this.#payout.terms;
    const mayDiffer = this.#queue.takeProviderUpdate();
    if (approvalKind === 'none' || this.#payout.wasSubmitted) return this.#advance('approvePayout');
    const dueAtMs = requestedAtMs + APPROVAL_PERIOD_DAYS * DAY_MS;
    const leftMs = dueAtMs - this.#queue.clock.nowMs;
    if (leftMs <= 0) return this.#cancel(`It was not approved within ${APPROVAL_PERIOD_DAYS} days.`);
    // The task that had performed a request, and recorded it in the row, may have been lost with the request.
    if (mayDiffer && patched(PATCHES.requestedPayoutCompares)) return this.#payout.perform('syncPayout');
    const isOperator = approvalKind === 'operator';
    const approval = isOperator ? OPERATOR_STEPS.approvePayout : 'a second member of the merchant to approve it';
    this.#payout.setWaitingFor(approval, dueAtMs);
    return this.#queue.wait({ afterMs: leftMs, summary: 'the request is cancelled' });
  }

  /** The attempt that records the permission makes the call to the bank, and no other attempt does. */
  async #submit(): Promise<void> {
    this.#queue.takeProviderUpdate();
    this.#payout.setWaitingFor('the bank to receive the payout');
    await this.#advance('submitPayout');
  }

  /** Only the bank's status decides. A notification causes a query, and so does the time. */
  async #awaitBank(): Promise<unknown> {
    const { untilQueryMs } = this.#payout;
    const hasBankUpdate = this.#queue.takeProviderUpdate();
    this.#payout.setWaitingFor('the bank to execute the payout');
    if (hasBankUpdate || untilQueryMs <= 0) return this.#payout.perform('syncPayout');
    return this.#queue.wait({ afterMs: untilQueryMs, summary: 'the next status query' });
  }

  #cancel(note: string): Promise<void> {
    return this.#advance('cancelPayout', { by: { name: 'workflow', note } });
  }

  /** A step that has to change the payout. If it does not, it is repeated later. */
  async #advance(step: PayoutStepName, options?: StepOptions): Promise<void> {
    const { version } = this.#payout.state;
    const result = await this.#payout.perform(step, options);
    if (result !== null && this.#payout.state.version === version) await this.#awaitRelease(result.deferral);
  }

  /** What keeps the payout back signals when it ends. A lost signal costs an hour. */
  async #awaitRelease(deferral?: PayoutDeferral): Promise<void> {
    if (deferral?.obstacle === 'no_bank_account') return this.#cancel('Its bank account has ended.');
    const { untilMs } = deferral ?? {};
    this.#payout.setWaitingFor(deferral ? DEFERRAL_TEXTS[deferral.obstacle] : 'the next attempt', untilMs);
    const leftMs = untilMs === undefined ? HOUR_MS : untilMs - this.#queue.clock.nowMs;
    const afterMs = Math.min(Math.max(leftMs, SECOND_MS), HOUR_MS);
    await this.#queue.wait({ afterMs, summary: 'may the payout be sent now?' });
  }

  /** Requests are handled one by one. Each is checked against the state at that time. */
  async #handleRequest(request: QueuedRequest<PayoutAction>): Promise<void> {
    const { action, actor, complete } = request;
    const { step, to, ...definition } = PAYOUT_ACTIONS[action];
    const resolution = 'resolution' in definition ? definition.resolution : undefined;
    const options = { by: actor, resolution };
    let rejection = this.#rejectionOf(request);
    if (rejection === null) {
      const { version } = this.#payout.state;
      const result = await this.#payout.perform(step, options);
      const isDone = this.#payout.state.status === to && this.#payout.state.version > version;
      if (!isDone) rejection = result?.rejection ?? payoutRejection(action, this.#payout.state) ?? 'It was not done.';
    }
    this.#payout.view.lastRejection = rejection;
    this.#payout.view.updateDetails();
    complete(rejection);
  }

  /** A step for which the request waited may have changed the payout that the requester has seen. */
  #rejectionOf({ action, version }: QueuedRequest<PayoutAction>): string | null {
    const { state } = this.#payout;
    const rejection = payoutRejection(action, state);
    if (rejection !== null || version === undefined || version === state.version) return rejection;
    return patched(PATCHES.queuedRequestComparesVersion) ? OTHER_VERSION : null;
  }

  /** A signal that is not handled yet is not lost: the sweeper repeats it. */
  #isHistoryLong(): boolean {
    return workflowInfo().historyLength >= MAX_HISTORY_EVENTS && !this.#queue.hasRequests && allHandlersFinished();
  }
}
