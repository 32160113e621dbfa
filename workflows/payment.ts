import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  patched,
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
import { ruleFor, whyRefused, type PaymentRequest } from '../src/domain/payment-requests';
import type { Opening, PaymentStep, Requester, StepResult } from '../src/domain/payment-step';
import { isFinal, type PaymentStatus } from '../src/domain/payment-transitions';
import {
  cancelSignal,
  cancelUpdate,
  createUpdate,
  failUpdate,
  paidSignal,
  refundSignal,
  refundUpdate,
  REFUSED,
  resolveRefundUpdate,
  retryRefundUpdate,
  SEARCH_ATTRIBUTES,
  settleSignal,
  settleUpdate,
  statusQuery,
  type RefundResolution,
} from './messages';
import { takeMessagesInOneBatch } from './one-batch';
import {
  AT_ONCE,
  ATTEMPT_MS,
  backOff,
  DAY_MS,
  HOUR_MS,
  MAX_HISTORY_EVENTS,
  MINUTE_MS,
  SECOND_MS,
  UNTIL_CLEAR,
} from './retries';
import { runStep } from './run-step';

/** The provider gets two minutes to issue a QR; then the payment is given up. */
const FOR_TWO_MINUTES = {
  startToCloseTimeout: ATTEMPT_MS,
  scheduleToCloseTimeout: 2 * MINUTE_MS,
  retry: { initialInterval: SECOND_MS, backoffCoefficient: 2, maximumInterval: ATTEMPT_MS },
} as const;

/** The activities of a payment, each with what operators read beside it. */
const STEPS = {
  openPayment: 'have the provider issue the QR',
  giveUpPayment: 'make sure that the provider issued no QR',
  confirmPaid: 'ask the provider whether it was paid',
  expirePayment: 'have the provider expire the QR',
  cancelPayment: 'have the provider cancel the QR',
  failPayment: 'have the provider asked once more, and end the payment as failed',
  recheckPaid: 'ask the provider whether it is still paid',
  requestRefund: 'hold the refund back for a while',
  cancelRefund: 'take the held refund back',
  submitRefund: 'write down that the refund goes to the provider',
  refundPayment: 'have the provider refund the customer',
  recheckRefund: 'ask the provider whether the refused refund went through after all',
  retryRefund: 'refund once more',
  resolveRefundAsRefunded: 'record that the customer has the money back',
  resolveRefundAsPaid: 'give the refund up, if the provider shows none',
  settlePayment: 'make the net amount available',
} as const satisfies Partial<Record<keyof Activities, string>>;

/** A provider that says nothing yet of a payment that it was reported for is asked again after these waits. */
const ASK_AGAIN_AFTER_MS = [1, 2, 5, 10, 30, 60].map((seconds) => seconds * SECOND_MS);

/** Between questions to a provider that has not decided: ever less often, but for ever. */
const ASK_AFTER_EXPIRY_MS = { first: MINUTE_MS, longest: 6 * HOUR_MS } as const;
const ASK_FOR_REFUND_MS = { first: SECOND_MS, longest: DAY_MS } as const;

/**
 * A payment whose end somebody waits for stays for a moment: the provider notifies of that end too, and a message that comes
 * in while a workflow completes fails its task, and with it the answer to whoever cancelled.
 */
const LINGER_MS = SECOND_MS;

const MERCHANT: Requester = { actor: 'merchant' };
const WEB_UI: Requester = { actor: 'operator', note: 'signalled to the workflow' };

/** A request that waits for its turn. `answer` takes the refusal, or null when it was done. */
interface Waiting {
  readonly kind: PaymentRequest;
  readonly by: Requester;
  readonly answer: (refusal: string | null) => void;
}

/** Where a life goes on whose workflow was lost: what PostgreSQL says of it. */
export interface Resumption {
  readonly state: PaymentState;
  readonly createdAtMs: number;
  /** Absent before the provider issued the QR or rejected the order. */
  readonly opening?: Opening;
  /** Of a run that ended because its history was long. */
  readonly attention?: string;
}

/**
 * The life of one payment, from the merchant's request until it is final. Temporal's own "cancel" does not end it:
 * only what happened to the money does.
 */
export function payment(terms: PaymentTerms, resumed?: Resumption): Promise<PaymentStatus> {
  return CancellationScope.nonCancellable(() => live(terms, resumed));
}

async function live(terms: PaymentTerms, resumed?: Resumption): Promise<PaymentStatus> {
  takeMessagesInOneBatch();
  const createdAtMs = resumed?.createdAtMs ?? workflowInfo().startTime.getTime();
  const expiresAtMs = expiryOf(createdAtMs, terms);
  let state: PaymentState = resumed?.state ?? { status: 'created', version: 0 };
  let waitingFor = 'the provider to issue the QR code';
  let attention = resumed?.attention ?? null;
  let lastRefusal: string | null = null;
  let opening = resumed?.opening;
  /** Someone says that the provider has news of this payment. */
  let reported = false;
  /** A refund was requested, and PostgreSQL has lost it. */
  let hasLostRefund = false;
  /** Somebody waits for the answer that the step under way gives. */
  let isAwaited = false;
  const requests: Waiting[] = [];
  const afterExpiry = backOff(ASK_AFTER_EXPIRY_MS);
  let afterRefund = backOff(ASK_FOR_REFUND_MS);

  setHandler(
    createUpdate,
    async () => {
      await condition(() => state.status !== 'created');
      return state.status;
    },
    { description: 'Sent with the start: answers when the QR is there, or the payment failed.' },
  );
  setHandler(cancelUpdate, () => ask('cancel', MERCHANT), {
    description: 'The merchant cancels the payment, or its refund while that is held.',
    validator: () => guard('cancel'),
  });
  setHandler(refundUpdate, () => ask('refund', MERCHANT), {
    description: 'The merchant has the customer refunded: answers when the refund is held.',
    validator: () => guard('refund'),
  });
  setHandler(settleUpdate, (by) => ask('settle', by), {
    description: 'An operator settles it, once its delay is over.',
    validator: (_by) => guard('settle'),
  });
  setHandler(failUpdate, (by) => ask('fail', by), {
    description: 'An operator ends a payment as failed. Rejected if the provider reports it as pending or paid.',
    validator: (_by) => guard('fail'),
  });
  setHandler(retryRefundUpdate, (by) => ask('retryRefund', by), {
    description: 'An operator has a refused refund tried once more, under a new key.',
    validator: (_by) => guard('retryRefund'),
  });
  setHandler(resolveRefundUpdate, (by, as) => ask(resolution(as), by), {
    description: 'An operator ends a refused refund: the customer has the money (`refunded`), or has not (`paid`).',
    validator: (_by, as) => guard(resolution(as)),
  });
  setHandler(cancelSignal, () => note('cancel'), {
    description: 'Cancels a payment that waits for its customer, or a refund that is held.',
  });
  setHandler(refundSignal, () => note('refund'), { description: 'Refunds the customer of a paid payment.' });
  setHandler(settleSignal, () => note('settle'), {
    description: 'Settles a paid payment of manual settlement, once its delay is over.',
  });
  setHandler(
    paidSignal,
    () => {
      reported = true;
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
      attention,
      refund: state.refund ?? null,
    }),
    { description: 'Where the payment stands, and what it waits for.' },
  );

  const chapters = {
    created: open,
    pending: awaitCustomer,
    paid: awaitSettlement,
    refund_processing: refund,
    refund_failed: awaitOperator,
  } as const satisfies Partial<Record<PaymentStatus, () => Promise<unknown>>>;

  for (;;) {
    const { status } = state;
    if (!isOpen(status)) break;
    if (isHistoryLong() && requests.length === 0 && allHandlersFinished()) return continueLater();
    const request = requests.shift();
    isAwaited = request !== undefined || status === 'created';
    await (request ? serve(request) : chapters[status]());
  }
  if (lingers()) await sleep(LINGER_MS);
  for (const request of requests) request.answer(whyRefused(request.kind, terms, state, Date.now()));
  await condition(allHandlersFinished);
  return state.status;

  function isOpen(status: PaymentStatus): status is keyof typeof chapters {
    return !isFinal(status);
  }

  function isHistoryLong(): boolean {
    return workflowInfo().historyLength >= MAX_HISTORY_EVENTS;
  }

  /** A new run begins where this one stands. A report that was not served yet is told again by the sweeper. */
  function continueLater(): Promise<never> {
    const carried = { ...(opening && { opening }), ...(attention !== null && { attention }) };
    return continueAsNew<typeof payment>(terms, { state, createdAtMs, ...carried });
  }

  /** Payments of before the patch all stayed, but for the settled ones, of which no provider speaks. */
  function lingers(): boolean {
    if (state.status === 'settled') return false;
    return isAwaited || requests.length > 0 || !patched('ends-at-once-unless-awaited');
  }

  /** Have the provider issue the QR; a provider that stays unclear is given up, after making sure of it. */
  async function open(): Promise<void> {
    try {
      await take('openPayment', { retried: FOR_TWO_MINUTES });
    } catch {
      await sleep(ATTEMPT_MS);
      waitFor('certainty that the provider issued no QR code');
      await take('giveUpPayment');
    }
  }

  /** The customer pays, or time runs out. The provider has the last word on either. */
  async function awaitCustomer(): Promise<void> {
    const leftMs = expiresAtMs - Date.now();
    if (reported) return askProvider();
    if (leftMs > 0) {
      waitFor(`the customer to pay ${formatRupiah(terms.totalRupiah)}`, expiresAtMs);
      return newsArrives(leftMs);
    }
    waitFor('the provider to confirm that the QR code expired unpaid');
    await take('expirePayment');
    if (state.status === 'pending') await newsArrives(afterExpiry());
  }

  /** Someone says that it is paid: ask the provider, and again for a while, since its own records may lag behind. */
  async function askProvider(): Promise<void> {
    for (const waitMs of ASK_AGAIN_AFTER_MS) {
      reported = false;
      await take('confirmPaid');
      if (state.status !== 'pending' || attention !== null) return;
      await newsArrives(Math.min(waitMs, Math.max(expiresAtMs - Date.now(), SECOND_MS)));
      if (requests.length > 0) return;
    }
  }

  /** Paid: after the delay of the captured policy the net amount becomes available to the merchant. */
  async function awaitSettlement(): Promise<unknown> {
    const { settlesAtMs: dueAtMs = Date.now() } = state;
    const leftMs = dueAtMs - Date.now();
    if (reported || attention !== null || hasLostRefund) {
      if (!reported) await newsArrives(afterRefund());
      if (requests.length > 0) return undefined;
      reported = false;
      return recheckPaid();
    }
    if (leftMs > 0) {
      waitFor('the settlement delay to pass', dueAtMs);
      return newsArrives(leftMs);
    }
    if (terms.settlementKind === 'automatic') return take('settlePayment');
    waitFor('an operator to settle it (`lunas payments settle`)');
    return newsArrives();
  }

  async function recheckPaid(): Promise<void> {
    await take('recheckPaid');
    if (state.status !== 'paid') hasLostRefund = false;
    if (!hasLostRefund || attention !== null) return;
    hasLostRefund = false;
    requests.push({ kind: 'refund', by: { ...MERCHANT, note: 'requested again' }, answer: () => undefined });
  }

  /** The refund is held back, then goes to the provider for good, which is asked until it is clear what came of it. */
  async function refund(): Promise<unknown> {
    if (state.refund?.status === 'held') return holdRefund(state.refund.submitAtMs);
    waitFor('the provider to confirm the refund');
    reported = false;
    await take('refundPayment');
    if (state.status === 'refund_processing') return newsArrives(afterRefund());
    afterRefund = backOff(ASK_FOR_REFUND_MS);
    return undefined;
  }

  /** A held refund can still be cancelled. A report has the workflow catch up with PostgreSQL; the provider has nothing yet. */
  async function holdRefund(submitAtMs: number): Promise<unknown> {
    const leftMs = submitAtMs - Date.now();
    waitFor('the hold of the refund to pass', submitAtMs);
    if (leftMs <= 0) {
      await take('submitRefund');
      return state.refund?.status === 'held' ? newsArrives(afterRefund()) : undefined;
    }
    if (!patched('held-refund-follows-reports')) return condition(() => requests.length > 0, leftMs);
    if (!reported) return newsArrives(leftMs);
    reported = false;
    return take('refundPayment');
  }

  /** The provider refused the refund. A success that comes after all is recorded; else a person decides. */
  async function awaitOperator(): Promise<void> {
    waitFor('an operator to retry or resolve the refund (`lunas refunds`)');
    if (!reported) return newsArrives();
    reported = false;
    await take('recheckRefund');
  }

  /** What was asked for, in the order in which it came; each is judged by where the payment stands by then. */
  async function serve({ kind, by, answer }: Waiting): Promise<void> {
    const rule = ruleFor(kind, state);
    let refused = whyRefused(kind, terms, state, Date.now());
    if (rule && refused === null) {
      waitFor(STEPS[rule.step]);
      refused = await take(rule.step, { by });
      if (state.status !== rule.to)
        refused ??= whyRefused(kind, terms, state, Date.now()) ?? 'The provider did not do it.';
    }
    lastRefusal = refused;
    answer(refused);
    describe();
  }

  /** Puts a request into the queue; its promise settles when it was served. */
  function ask(kind: PaymentRequest, by: Requester): Promise<PaymentStatus> {
    return new Promise((resolve, reject) => {
      const answer = (refused: string | null) => {
        if (refused === null) resolve(state.status);
        else reject(refusal(refused, state));
      };
      requests.push({ kind, by, answer });
    });
  }

  /** Asked for by a signal: nobody waits, the page shows what came of it. */
  function note(kind: PaymentRequest): void {
    requests.push({ kind, by: WEB_UI, answer: () => undefined });
  }

  function guard(kind: PaymentRequest): void {
    const refused = whyRefused(kind, terms, state, Date.now());
    if (refused !== null) throw refusal(refused, state);
  }

  /** Somebody asks for something, or the provider has news; without a limit it waits for as long as it takes. */
  async function newsArrives(withinMs?: number): Promise<void> {
    const isNews = () => reported || requests.length > 0;
    await (withinMs === undefined ? condition(isNews) : condition(isNews, withinMs));
  }

  /**
   * Takes a step: at once in a local activity and, where that fails, as often as it needs in a regular one. An operator
   * who ends the payment does not wait for it.
   * @returns why it was refused, null when it was not
   */
  async function take(
    step: keyof typeof STEPS,
    { by, retried = UNTIL_CLEAR }: { by?: Requester; retried?: ActivityOptions } = {},
  ): Promise<string | null> {
    const atMs = Date.now();
    const request: PaymentStep = { terms, state, atMs, createdAtMs, ...(by && { by }) };
    const summary = `${terms.referenceId}: ${STEPS[step]}`;
    const local = proxyLocalActivities<Activities>({ ...AT_ONCE, summary });
    const regular = proxyActivities<Activities>({ ...retried, summary });
    const result = await runStep({
      local: () => local[step](request),
      regular: () => regular[step](request),
      onRetrying: () => showRetrying(step),
      isInterrupted: () => requests.some(({ kind }) => kind === 'fail'),
    });
    if (result === null) return null;
    if (result.state.version < request.state.version) goBack(request.state);
    opening = result.opening ?? opening;
    show(result);
    // Steps that were recorded before refunds came do not say it.
    if (state.status === 'paid' && state.settlesAtMs === undefined) {
      state = { ...state, settlesAtMs: atMs + terms.settlementDelaySeconds * SECOND_MS };
    }
    return result.refusal ?? null;
  }

  /**
   * PostgreSQL was restored to an earlier time: only the provider knows what has happened since. A refund that was answered
   * with 200 is requested again, unless the provider has it.
   */
  function goBack(from: PaymentState): void {
    reported = true;
    hasLostRefund = from.status === 'refund_processing' || from.status === 'refund_failed';
  }

  /** A step that fails again and again looks like a wait otherwise. */
  function showRetrying(step: keyof typeof STEPS): void {
    waitingFor = `a step that is being retried: ${STEPS[step]}`;
    show({ state, attention: `A step is being retried: ${STEPS[step]}. Its pending activity shows why it fails.` });
  }

  /** What operators see of it: search attributes for the lists, details in words on the page. */
  function show(result: StepResult): void {
    const before = { status: state.status, attention };
    state = { ...state, ...result.state };
    attention = result.attention ?? (state.status === 'refund_failed' ? 'the provider refused the refund' : null);
    const changes: SearchAttributeUpdatePair[] = [];
    if (state.status !== before.status) changes.push({ key: SEARCH_ATTRIBUTES.paymentStatus, value: state.status });
    if (state.status === 'pending' && before.status !== 'pending') {
      changes.push({ key: SEARCH_ATTRIBUTES.expiresAt, value: new Date(expiresAtMs) });
    }
    if ((attention === null) !== (before.attention === null)) {
      changes.push({ key: SEARCH_ATTRIBUTES.needsAttention, value: attention !== null });
    }
    if (changes.length > 0) upsertSearchAttributes(changes);
    if (isFinal(state.status)) waitFor('nothing: this is the end of its life');
    else describe();
  }

  function waitFor(what: string, untilMs?: number): void {
    waitingFor = untilMs === undefined ? what : `${what} (until ${new Date(untilMs).toISOString()})`;
    describe();
  }

  function describe(): void {
    const concern = attention === null ? '' : `\n\n**Needs attention:** ${attention}`;
    const refused = lastRefusal === null ? '' : `\n\nLast request refused: ${lastRefusal}`;
    setCurrentDetails(`**${state.status}**, waiting for ${waitingFor}.${concern}${refused}`);
  }
}

/** Tells what it took the payment for: PostgreSQL may know of a step that was lost here and is being taken again. */
function refusal(reason: string, { status }: PaymentState): ApplicationFailure {
  return ApplicationFailure.nonRetryable(reason, REFUSED, status);
}

function resolution(as: RefundResolution): PaymentRequest {
  return as === 'refunded' ? 'resolveRefundAsRefunded' : 'resolveRefundAsPaid';
}
