import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { ActivityOptions, SearchAttributeUpdatePair } from '@temporalio/common';
import type { Activities } from '../activities';
import { formatRupiah } from '../src/domain/money';
import { expiryOf, type PaymentState, type PaymentTerms } from '../src/domain/payment';
import { ruleFor, rejectionReason, type PaymentAction } from '../src/domain/payment-actions';
import type { Opening, StepInput, Actor, StepResult } from '../src/domain/workflow-step';
import { isFinal, type PaymentStatus } from '../src/domain/payment-transitions';
import {
  cancelSignal,
  cancelUpdate,
  createUpdate,
  failUpdate,
  paidSignal,
  refundSignal,
  refundUpdate,
  REQUEST_REJECTED,
  resolveRefundUpdate,
  retryRefundUpdate,
  SEARCH_ATTRIBUTES,
  settleSignal,
  settleUpdate,
  statusQuery,
  type RefundResolution,
} from './messages';
import { forceSingleBatchActivation } from './sdk-single-batch-flag';
import {
  LOCAL_ACTIVITY_OPTIONS,
  ACTIVITY_TIMEOUT_MS,
  exponentialBackoff,
  DAY_MS,
  HOUR_MS,
  MAX_HISTORY_EVENTS,
  MINUTE_MS,
  SECOND_MS,
  UNLIMITED_RETRY,
} from './retry-policies';
import { runStep } from './run-step';

/** The provider gets two minutes to issue a QR; then the payment is given up. */
const QRIS_ISSUE_RETRY = {
  startToCloseTimeout: ACTIVITY_TIMEOUT_MS,
  scheduleToCloseTimeout: 2 * MINUTE_MS,
  retry: { initialInterval: SECOND_MS, backoffCoefficient: 2, maximumInterval: ACTIVITY_TIMEOUT_MS },
} as const;

/** The activities of a payment, each with what operators read beside it. */
const ACTIVITY_SUMMARIES = {
  openPayment: 'have the provider issue the QR',
  failUnissuedPayment: 'make sure that the provider issued no QR',
  confirmPaid: 'ask the provider whether it was paid',
  expirePayment: 'have the provider expire the QR',
  cancelPayment: 'have the provider cancel the QR',
  failPayment: 'have the provider asked once more, and end the payment as failed',
  syncPaidPayment: 'ask the provider whether it is still paid',
  requestRefund: 'hold the refund back for a while',
  cancelRefund: 'take the held refund back',
  submitRefund: 'write down that the refund goes to the provider',
  refundPayment: 'have the provider refund the customer',
  syncFailedRefund: 'ask the provider whether the refused refund went through after all',
  retryRefund: 'refund once more',
  resolveRefundAsRefunded: 'record that the customer has the money back',
  resolveRefundAsPaid: 'give the refund up, if the provider shows none',
  settlePayment: 'make the net amount available',
} as const satisfies Partial<Record<keyof Activities, string>>;

/** A provider that says nothing yet of a payment that it was reported for is asked again after these waits. */
const STATUS_POLL_DELAYS_MS = [1, 2, 5, 10, 30, 60].map((seconds) => seconds * SECOND_MS);

/** Between questions to a provider that has not decided: ever less often, but for ever. */
const EXPIRY_POLL_BACKOFF = { initialMs: MINUTE_MS, maxMs: 6 * HOUR_MS } as const;
const REFUND_POLL_BACKOFF = { initialMs: SECOND_MS, maxMs: DAY_MS } as const;

/**
 * A payment whose end somebody waits for stays for a moment: the provider notifies of that end too, and a message that comes
 * in while a workflow completes fails its task, and with it the answer to whoever cancelled.
 */
const COMPLETION_DELAY_MS = SECOND_MS;

const MERCHANT: Actor = { name: 'merchant' };
const WEB_UI: Actor = { name: 'operator', note: 'signalled to the workflow' };

/** A request that waits for its turn. `answer` takes the refusal, or null when it was done. */
interface QueuedRequest {
  readonly kind: PaymentAction;
  readonly by: Actor;
  readonly complete: (refusal: string | null) => void;
}

/** Where a life goes on whose workflow was lost: what PostgreSQL says of it. */
export interface ResumeState {
  readonly state: PaymentState;
  readonly createdAtMs: number;
  /** Absent before the provider issued the QR or rejected the order. */
  readonly opening?: Opening;
  /** Of a run that ended because its history was long. */
  readonly attentionReason?: string;
}

/**
 * The life of one payment, from the merchant's request until it is final. Temporal's own "cancel" does not end it:
 * only what happened to the money does.
 */
export function payment(terms: PaymentTerms, resumeState?: ResumeState): Promise<PaymentStatus> {
  return CancellationScope.nonCancellable(() => run(terms, resumeState));
}

async function run(terms: PaymentTerms, resumeState?: ResumeState): Promise<PaymentStatus> {
  forceSingleBatchActivation();
  const createdAtMs = resumeState?.createdAtMs ?? workflowInfo().startTime.getTime();
  const expiresAtMs = expiryOf(createdAtMs, terms);
  let state: PaymentState = resumeState?.state ?? { status: 'created', version: 0 };
  let waitingFor = 'the provider to issue the QR code';
  let attentionReason = resumeState?.attentionReason ?? null;
  let lastRejection: string | null = null;
  let opening = resumeState?.opening;
  /** Someone says that the provider has news of this payment. */
  let hasProviderUpdate = false;
  /** A refund was requested, and PostgreSQL has lost it. */
  let hasLostRefund = false;
  /** Somebody waits for the answer that the step under way gives. */
  let hasWaitingCaller = false;
  const requests: QueuedRequest[] = [];
  const afterExpiry = exponentialBackoff(EXPIRY_POLL_BACKOFF);
  let afterRefund = exponentialBackoff(REFUND_POLL_BACKOFF);

  setHandler(
    createUpdate,
    async () => {
      await condition(() => state.status !== 'created');
      return state.status;
    },
    { description: 'Sent with the start: answers when the QR is there, or the payment failed.' },
  );
  setHandler(cancelUpdate, () => enqueueRequest('cancel', MERCHANT), {
    description: 'The merchant cancels the payment, or its refund while that is held.',
    validator: () => validateRequest('cancel'),
  });
  setHandler(refundUpdate, () => enqueueRequest('refund', MERCHANT), {
    description: 'The merchant has the customer refunded: answers when the refund is held.',
    validator: () => validateRequest('refund'),
  });
  setHandler(settleUpdate, (by) => enqueueRequest('settle', by), {
    description: 'An operator settles it, once its delay is over.',
    validator: (_by) => validateRequest('settle'),
  });
  setHandler(failUpdate, (by) => enqueueRequest('fail', by), {
    description: 'An operator ends a payment as failed. Rejected if the provider reports it as pending or paid.',
    validator: (_by) => validateRequest('fail'),
  });
  setHandler(retryRefundUpdate, (by) => enqueueRequest('retryRefund', by), {
    description: 'An operator has a refused refund tried once more, under a new key.',
    validator: (_by) => validateRequest('retryRefund'),
  });
  setHandler(resolveRefundUpdate, (by, as) => enqueueRequest(toResolveAction(as), by), {
    description: 'An operator ends a refused refund: the customer has the money (`refunded`), or has not (`paid`).',
    validator: (_by, as) => validateRequest(toResolveAction(as)),
  });
  setHandler(cancelSignal, () => enqueueFromSignal('cancel'), {
    description: 'Cancels a payment that waits for its customer, or a refund that is held.',
  });
  setHandler(refundSignal, () => enqueueFromSignal('refund'), {
    description: 'Refunds the customer of a paid payment.',
  });
  setHandler(settleSignal, () => enqueueFromSignal('settle'), {
    description: 'Settles a paid payment of manual settlement, once its delay is over.',
  });
  setHandler(
    paidSignal,
    () => {
      hasProviderUpdate = true;
    },
    { description: 'The provider has news of it: has the provider asked now. Harmless at any time.' },
  );
  setHandler(
    statusQuery,
    () => ({
      status: state.status,
      version: state.version,
      waitingFor,
      expiresAt: new Date(expiresAtMs).toISOString(),
      settlesAt: state.settlesAtMs === undefined ? null : new Date(state.settlesAtMs).toISOString(),
      attentionReason,
      refund: state.refund ?? null,
    }),
    { description: 'Where the payment stands, and what it waits for.' },
  );

  const statusHandlers = {
    created: issueQris,
    pending: awaitPayment,
    paid: awaitSettlement,
    refund_processing: processRefund,
    refund_failed: awaitRefundResolution,
  } as const satisfies Partial<Record<PaymentStatus, () => Promise<unknown>>>;

  for (;;) {
    const { status } = state;
    if (!isOpen(status)) break;
    if (isHistoryLong() && requests.length === 0 && allHandlersFinished()) return continueLater();
    const request = requests.shift();
    hasWaitingCaller = request !== undefined || status === 'created';
    await (request ? handleRequest(request) : statusHandlers[status]());
  }
  if (delaysCompletion()) await sleep(COMPLETION_DELAY_MS);
  for (const request of requests) request.complete(rejectionReason(request.kind, terms, state, Date.now()));
  await condition(allHandlersFinished);
  return state.status;

  function isOpen(status: PaymentStatus): status is keyof typeof statusHandlers {
    return !isFinal(status);
  }

  function isHistoryLong(): boolean {
    return workflowInfo().historyLength >= MAX_HISTORY_EVENTS;
  }

  /** A new run begins where this one stands. A report that was not served yet is told again by the sweeper. */
  function continueLater(): Promise<never> {
    const carried = { ...(opening && { opening }), ...(attentionReason !== null && { attentionReason }) };
    return continueAsNew<typeof payment>(terms, { state, createdAtMs, ...carried });
  }

  /** No provider notifies of a settlement. */
  function delaysCompletion(): boolean {
    return state.status !== 'settled' && (hasWaitingCaller || requests.length > 0);
  }

  /** Have the provider issue the QR; a provider that stays unclear is given up, after making sure of it. */
  async function issueQris(): Promise<void> {
    try {
      await runPaymentStep('openPayment', { regularOptions: QRIS_ISSUE_RETRY });
    } catch {
      await sleep(ACTIVITY_TIMEOUT_MS);
      setWaitingFor('certainty that the provider issued no QR code');
      await runPaymentStep('failUnissuedPayment');
    }
  }

  /** The customer pays, or time runs out. The provider has the last word on either. */
  async function awaitPayment(): Promise<void> {
    const leftMs = expiresAtMs - Date.now();
    if (hasProviderUpdate) return pollProvider();
    if (leftMs > 0) {
      setWaitingFor(`the customer to pay ${formatRupiah(terms.totalRupiah)}`, expiresAtMs);
      return waitForMessage(leftMs);
    }
    setWaitingFor('the provider to confirm that the QR code expired unpaid');
    await runPaymentStep('expirePayment');
    if (state.status === 'pending') await waitForMessage(afterExpiry());
  }

  /** Someone says that it is paid: ask the provider, and again for a while, since its own records may lag behind. */
  async function pollProvider(): Promise<void> {
    for (const delayMs of STATUS_POLL_DELAYS_MS) {
      hasProviderUpdate = false;
      await runPaymentStep('confirmPaid');
      if (state.status !== 'pending' || attentionReason !== null) return;
      await waitForMessage(Math.min(delayMs, Math.max(expiresAtMs - Date.now(), SECOND_MS)));
      if (requests.length > 0) return;
    }
  }

  /** Paid: after the delay of the captured policy the net amount becomes available to the merchant. */
  async function awaitSettlement(): Promise<unknown> {
    const { settlesAtMs: dueAtMs = Date.now() } = state;
    const leftMs = dueAtMs - Date.now();
    if (hasProviderUpdate || attentionReason !== null || hasLostRefund) {
      if (!hasProviderUpdate) await waitForMessage(afterRefund());
      if (requests.length > 0) return undefined;
      hasProviderUpdate = false;
      return syncPaidPayment();
    }
    if (leftMs > 0) {
      setWaitingFor('the settlement delay to pass', dueAtMs);
      return waitForMessage(leftMs);
    }
    if (terms.settlementKind === 'automatic') return runPaymentStep('settlePayment');
    setWaitingFor('an operator to settle it (`lunas payments settle`)');
    return waitForMessage();
  }

  async function syncPaidPayment(): Promise<void> {
    await runPaymentStep('syncPaidPayment');
    if (state.status !== 'paid') hasLostRefund = false;
    if (!hasLostRefund || attentionReason !== null) return;
    hasLostRefund = false;
    requests.push({ kind: 'refund', by: { ...MERCHANT, note: 'requested again' }, complete: () => undefined });
  }

  /** The refund is held back, then goes to the provider for good, which is asked until it is clear what came of it. */
  async function processRefund(): Promise<unknown> {
    if (state.refund?.status === 'held') return holdRefund(state.refund.submitAtMs);
    setWaitingFor('the provider to confirm the refund');
    hasProviderUpdate = false;
    await runPaymentStep('refundPayment');
    if (state.status === 'refund_processing') return waitForMessage(afterRefund());
    afterRefund = exponentialBackoff(REFUND_POLL_BACKOFF);
    return undefined;
  }

  /** A held refund can still be cancelled. A report has the workflow catch up with PostgreSQL; the provider has nothing yet. */
  async function holdRefund(submitAtMs: number): Promise<unknown> {
    const leftMs = submitAtMs - Date.now();
    setWaitingFor('the hold of the refund to pass', submitAtMs);
    if (leftMs <= 0) {
      await runPaymentStep('submitRefund');
      return state.refund?.status === 'held' ? waitForMessage(afterRefund()) : undefined;
    }
    if (!hasProviderUpdate) return waitForMessage(leftMs);
    hasProviderUpdate = false;
    return runPaymentStep('refundPayment');
  }

  /** The provider refused the refund. A success that comes after all is recorded; else a person decides. */
  async function awaitRefundResolution(): Promise<void> {
    setWaitingFor('an operator to retry or resolve the refund (`lunas refunds`)');
    if (!hasProviderUpdate) return waitForMessage();
    hasProviderUpdate = false;
    await runPaymentStep('syncFailedRefund');
  }

  /** What was asked for, in the order in which it came; each is judged by where the payment stands by then. */
  async function handleRequest({ kind, by, complete }: QueuedRequest): Promise<void> {
    const rule = ruleFor(kind, state);
    let rejection = rejectionReason(kind, terms, state, Date.now());
    if (rule && rejection === null) {
      setWaitingFor(ACTIVITY_SUMMARIES[rule.step]);
      rejection = await runPaymentStep(rule.step, { by });
      if (state.status !== rule.to)
        rejection ??= rejectionReason(kind, terms, state, Date.now()) ?? 'The provider did not do it.';
    }
    lastRejection = rejection;
    complete(rejection);
    updateDetails();
  }

  /** Puts a request into the queue; its promise settles when it was served. */
  function enqueueRequest(kind: PaymentAction, by: Actor): Promise<PaymentStatus> {
    return new Promise((resolve, reject) => {
      const complete = (rejection: string | null) => {
        if (rejection === null) resolve(state.status);
        else reject(requestRejected(rejection, state));
      };
      requests.push({ kind, by, complete });
    });
  }

  /** Asked for by a signal: nobody waits, the page shows what came of it. */
  function enqueueFromSignal(kind: PaymentAction): void {
    requests.push({ kind, by: WEB_UI, complete: () => undefined });
  }

  function validateRequest(kind: PaymentAction): void {
    const rejection = rejectionReason(kind, terms, state, Date.now());
    if (rejection !== null) throw requestRejected(rejection, state);
  }

  /** Somebody asks for something, or the provider has news; without a limit it waits for as long as it takes. */
  async function waitForMessage(timeoutMs?: number): Promise<void> {
    const hasMessage = () => hasProviderUpdate || requests.length > 0;
    await (timeoutMs === undefined ? condition(hasMessage) : condition(hasMessage, timeoutMs));
  }

  /**
   * Takes a step: at once in a local activity and, where that fails, as often as it needs in a regular one. An operator
   * who ends the payment does not wait for it.
   * @returns why it was refused, null when it was not
   */
  async function runPaymentStep(
    step: keyof typeof ACTIVITY_SUMMARIES,
    { by, regularOptions = UNLIMITED_RETRY }: { by?: Actor; regularOptions?: ActivityOptions } = {},
  ): Promise<string | null> {
    const atMs = Date.now();
    const request: StepInput = { terms, state, atMs, createdAtMs, ...(by && { by }) };
    const summary = `${terms.referenceId}: ${ACTIVITY_SUMMARIES[step]}`;
    const local = proxyLocalActivities<Activities>({ ...LOCAL_ACTIVITY_OPTIONS, summary });
    const regular = proxyActivities<Activities>({ ...regularOptions, summary });
    const result = await runStep({
      local: () => local[step](request),
      regular: () => regular[step](request),
      onRetrying: () => showRetrying(step),
      isInterrupted: () => requests.some(({ kind }) => kind === 'fail'),
    });
    if (result === null) return null;
    if (result.state.version < request.state.version) resumeFromOlderState(request.state);
    opening = result.opening ?? opening;
    applyResult(result);
    // Steps that were recorded before refunds came do not say it.
    if (state.status === 'paid' && state.settlesAtMs === undefined) {
      state = { ...state, settlesAtMs: atMs + terms.settlementDelaySeconds * SECOND_MS };
    }
    return result.rejection ?? null;
  }

  /**
   * PostgreSQL was restored to an earlier time: only the provider knows what has happened since. A refund that was answered
   * with 200 is requested again, unless the provider has it.
   */
  function resumeFromOlderState(from: PaymentState): void {
    hasProviderUpdate = true;
    hasLostRefund = from.status === 'refund_processing' || from.status === 'refund_failed';
  }

  /** A step that fails again and again looks like a wait otherwise. */
  function showRetrying(step: keyof typeof ACTIVITY_SUMMARIES): void {
    waitingFor = `a step that is being retried: ${ACTIVITY_SUMMARIES[step]}`;
    applyResult({
      state,
      attentionReason: `A step is being retried: ${ACTIVITY_SUMMARIES[step]}. Its pending activity shows why it fails.`,
    });
  }

  /** What operators see of it: search attributes for the lists, details in words on the page. */
  function applyResult(result: StepResult): void {
    const before = { status: state.status, attentionReason };
    state = { ...state, ...result.state };
    attentionReason =
      result.attentionReason ?? (state.status === 'refund_failed' ? 'the provider refused the refund' : null);
    const changes: SearchAttributeUpdatePair[] = [];
    if (state.status !== before.status) changes.push({ key: SEARCH_ATTRIBUTES.paymentStatus, value: state.status });
    if (state.status === 'pending' && before.status !== 'pending') {
      changes.push({ key: SEARCH_ATTRIBUTES.expiresAt, value: new Date(expiresAtMs) });
    }
    if ((attentionReason === null) !== (before.attentionReason === null)) {
      changes.push({ key: SEARCH_ATTRIBUTES.needsAttention, value: attentionReason !== null });
    }
    if (changes.length > 0) upsertSearchAttributes(changes);
    if (isFinal(state.status)) setWaitingFor('nothing: this is the end of its life');
    else updateDetails();
  }

  function setWaitingFor(what: string, untilMs?: number): void {
    waitingFor = untilMs === undefined ? what : `${what} (until ${new Date(untilMs).toISOString()})`;
    updateDetails();
  }

  function updateDetails(): void {
    const concern = attentionReason === null ? '' : `\n\n**Needs attention:** ${attentionReason}`;
    const rejection = lastRejection === null ? '' : `\n\nLast request refused: ${lastRejection}`;
    setCurrentDetails(`**${state.status}**, waiting for ${waitingFor}.${concern}${rejection}`);
  }
}

/** Tells what it took the payment for: PostgreSQL may know of a step that was lost here and is being taken again. */
function requestRejected(reason: string, { status }: PaymentState): ApplicationFailure {
  return ApplicationFailure.nonRetryable(reason, REQUEST_REJECTED, status);
}

function toResolveAction(as: RefundResolution): PaymentAction {
  return as === 'refunded' ? 'resolveRefundAsRefunded' : 'resolveRefundAsPaid';
}
