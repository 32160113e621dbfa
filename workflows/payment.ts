import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
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
import type { PaymentStep, StepResult } from '../src/domain/payment-step';
import { isFinal, type PaymentStatus } from '../src/domain/payment-transitions';
import { PROVIDER_CAPABILITIES } from '../src/domain/provider-capabilities';
import {
  cancelSignal,
  cancelUpdate,
  createUpdate,
  paidSignal,
  REFUSED,
  SEARCH_ATTRIBUTES,
  settleSignal,
  statusQuery,
} from './messages';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

/** The happy path: at once, inside of the workflow task, unseen. */
const AT_ONCE = { startToCloseTimeout: 5 * SECOND_MS, retry: { maximumAttempts: 1 } } as const;

/** Longer than any call to a provider: after this long no body of a timed-out attempt is at work any more. */
const ATTEMPT_MS = 15 * SECOND_MS;

/** What has to be tried again: durable, visible in the Web UI, for as long as it takes. */
const UNTIL_CLEAR = {
  startToCloseTimeout: ATTEMPT_MS,
  retry: { initialInterval: SECOND_MS, backoffCoefficient: 2, maximumInterval: 5 * MINUTE_MS },
} as const;

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
  settlePayment: 'make the net amount available',
} as const satisfies Partial<Record<keyof Activities, string>>;

/** A provider that says nothing yet of a payment that it was reported for is asked again after these waits. */
const ASK_AGAIN_AFTER_MS = [1, 2, 5, 10, 30, 60].map((seconds) => seconds * SECOND_MS);

/** After `expires_at`, while the provider neither expires the order nor says that it was paid: ever less often. */
const ASK_AFTER_EXPIRY_MS = { first: MINUTE_MS, longest: 6 * 60 * MINUTE_MS } as const;

/**
 * A payment that ended at the provider stays for a moment: the provider notifies of that too, and a message that comes in
 * while a workflow completes fails its task, and with it the answer to whoever cancelled.
 */
const LINGER_MS = SECOND_MS;

/**
 * The life of one payment, from the merchant's request until it is final. Temporal's own "cancel" does not end it:
 * only what happened to the money does.
 */
export function payment(terms: PaymentTerms): Promise<PaymentStatus> {
  return CancellationScope.nonCancellable(() => live(terms));
}

async function live(terms: PaymentTerms): Promise<PaymentStatus> {
  const createdAtMs = workflowInfo().startTime.getTime();
  const expiresAtMs = expiryOf(createdAtMs, terms);
  let state: PaymentState = { status: 'created', version: 0 };
  let waitingFor = 'the provider to issue the QR code';
  let settlesAtMs: number | null = null;
  let attention: string | null = null;
  let reportedPaid = false;
  let settlementAsked = false;
  /** Cancellations are numbered as they come; those up to `answered` know how they ended, and one at most succeeded. */
  const cancellations = { asked: 0, answered: 0, succeeded: 0 };

  setHandler(
    createUpdate,
    async () => {
      await condition(() => state.status !== 'created');
      return state.status;
    },
    { description: 'Sent with the start: answers when the QR is there, or the payment failed.' },
  );
  setHandler(
    cancelUpdate,
    async () => {
      const mine = (cancellations.asked += 1);
      await condition(() => cancellations.answered >= mine);
      if (cancellations.succeeded !== mine) throw refusal();
      return state.status;
    },
    {
      description: 'The merchant cancels: answers when the provider has decided.',
      validator: () => {
        if (!canBeCancelled()) throw refusal();
      },
    },
  );
  setHandler(
    cancelSignal,
    () => {
      if (canBeCancelled()) cancellations.asked += 1;
    },
    { description: 'Cancels a payment that waits for its customer, if the provider can.' },
  );
  setHandler(
    paidSignal,
    () => {
      reportedPaid = true;
    },
    { description: 'The customer may have paid: has the provider asked now. Harmless at any time.' },
  );
  setHandler(
    settleSignal,
    () => {
      settlementAsked = true;
    },
    { description: 'Settles a payment of manual settlement, once its delay is over.' },
  );
  setHandler(
    statusQuery,
    () => ({
      ...state,
      waitingFor,
      expiresAt: new Date(expiresAtMs).toISOString(),
      settlesAt: settlesAtMs === null ? null : new Date(settlesAtMs).toISOString(),
      attention,
    }),
    { description: 'Where the payment stands, and what it waits for.' },
  );

  await open();
  await awaitCustomer();
  if (state.status === 'paid') await settle();
  else await sleep(LINGER_MS);
  await condition(allHandlersFinished);
  return state.status;

  /** Have the provider issue the QR; a provider that stays unclear is given up, after making sure of it. */
  async function open(): Promise<void> {
    try {
      await take('openPayment', FOR_TWO_MINUTES);
    } catch {
      await sleep(ATTEMPT_MS);
      waitFor('certainty that the provider issued no QR code');
      await take('giveUpPayment');
    }
  }

  /** The customer pays, the merchant cancels, or time runs out. The provider has the last word on each. */
  async function awaitCustomer(): Promise<void> {
    let afterExpiryMs: number = ASK_AFTER_EXPIRY_MS.first;
    while (state.status === 'pending') {
      const leftMs = expiresAtMs - Date.now();
      if (cancellations.asked > cancellations.answered) {
        await cancel();
      } else if (reportedPaid) {
        await askProvider();
      } else if (leftMs > 0) {
        waitFor(`the customer to pay ${formatRupiah(terms.totalRupiah)}`, expiresAtMs);
        await newsArrives(leftMs);
      } else {
        waitFor('the provider to confirm that the QR code expired unpaid');
        await take('expirePayment');
        if (state.status === 'pending') await newsArrives(afterExpiryMs);
        afterExpiryMs = Math.min(afterExpiryMs * 2, ASK_AFTER_EXPIRY_MS.longest);
      }
    }
    cancellations.answered = cancellations.asked;
  }

  /** Someone says that it is paid: ask the provider, and again for a while, since its own records may lag behind. */
  async function askProvider(): Promise<void> {
    for (const waitMs of ASK_AGAIN_AFTER_MS) {
      reportedPaid = false;
      await take('confirmPaid');
      if (state.status !== 'pending' || attention !== null) return;
      await newsArrives(Math.min(waitMs, Math.max(expiresAtMs - Date.now(), SECOND_MS)));
      if (cancellations.asked > cancellations.answered) return;
    }
  }

  /** The provider decides between the merchant who cancels and the customer who pays. */
  async function cancel(): Promise<void> {
    const { asked, answered } = cancellations;
    waitFor('the provider to cancel the QR code');
    await take('cancelPayment');
    if (state.status === 'cancelled') cancellations.succeeded = answered + 1;
    cancellations.answered = asked;
  }

  function canBeCancelled(): boolean {
    return state.status === 'pending' && PROVIDER_CAPABILITIES[terms.provider].cancel;
  }

  function refusal(): ApplicationFailure {
    const message = `The transaction is "${state.status}" at ${terms.provider} and cannot be cancelled.`;
    return ApplicationFailure.nonRetryable(message, REFUSED);
  }

  function newsArrives(withinMs: number): Promise<boolean> {
    return condition(() => reportedPaid || cancellations.asked > cancellations.answered, withinMs);
  }

  /** Paid: after the delay of the captured policy the net amount becomes available to the merchant. */
  async function settle(): Promise<void> {
    const dueAtMs = settlesAtMs ?? Date.now();
    waitFor('the settlement delay to pass', dueAtMs);
    await sleep(Math.max(dueAtMs - Date.now(), 0));
    if (terms.settlementKind === 'manual') {
      waitFor('an operator to settle it (signal `settle`)');
      await condition(() => settlementAsked);
    }
    await take('settlePayment');
  }

  /** Takes a step: at once in a local activity and, where that fails, as often as it needs in a regular one. */
  async function take(step: keyof typeof STEPS, retried: ActivityOptions = UNTIL_CLEAR): Promise<void> {
    const atMs = Date.now();
    const request: PaymentStep = { terms, state, atMs, createdAtMs };
    const summary = `${terms.referenceId}: ${STEPS[step]}`;
    const atOnce = proxyLocalActivities<Activities>({ ...AT_ONCE, summary });
    const durable = proxyActivities<Activities>({ ...retried, summary });
    const result = await atOnce[step](request).catch(() => durable[step](request));
    if (result.state.status === 'paid') settlesAtMs ??= atMs + terms.settlementDelaySeconds * SECOND_MS;
    show(result);
  }

  /** What operators see of it: search attributes for the lists, details in words on the page. */
  function show(result: StepResult): void {
    const changes: SearchAttributeUpdatePair[] = [];
    if (result.state.status !== state.status) {
      changes.push({ key: SEARCH_ATTRIBUTES.paymentStatus, value: result.state.status });
    }
    if (result.state.status === 'pending' && state.status !== 'pending') {
      changes.push({ key: SEARCH_ATTRIBUTES.expiresAt, value: new Date(expiresAtMs) });
    }
    if ((result.attention === undefined) !== (attention === null)) {
      changes.push({ key: SEARCH_ATTRIBUTES.needsAttention, value: result.attention !== undefined });
    }
    state = result.state;
    attention = result.attention ?? null;
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
    setCurrentDetails(`**${state.status}**, waiting for ${waitingFor}.${concern}`);
  }
}
