import {
  CancellationScope,
  condition,
  continueAsNew,
  patched,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities';
import { formatRupiah } from '../src/domain/money';
import type { LatePaymentResult } from '../src/domain/late-payment';
import type { PaymentTerms } from '../src/domain/payment';
import { AT_ONCE, backOff, HOUR_MS, MAX_HISTORY_EVENTS, SECOND_MS, UNTIL_CLEAR } from './retries';
import { paidSignal, SEARCH_ATTRIBUTES } from './messages';
import { takeMessagesInOneBatch } from './one-batch';
import { runStep } from './run-step';

/**
 * Between two status queries while the bank has not confirmed the refund. A notification causes one more query and counts
 * as one, so that copies of it cannot make the workflow query often.
 */
const REFUND_POLL_BACKOFF = { first: 5 * SECOND_MS, longest: HOUR_MS } as const;

/**
 * There is news of a payment that has ended. Customers do pay a QR that expired or was cancelled: the money is held in
 * suspense and given back, or a person sees to it; nothing is dropped.
 */
export function latePayment(terms: PaymentTerms): Promise<LatePaymentResult['status']> {
  return CancellationScope.nonCancellable(() => live(terms));
}

type Step = 'receiveLatePayment' | 'refundLatePayment';

async function live(terms: PaymentTerms): Promise<LatePaymentResult['status']> {
  takeMessagesInOneBatch();
  let reported = true;
  let result: LatePaymentResult = { status: 'none' };
  setHandler(
    paidSignal,
    () => {
      reported = true;
    },
    { description: 'The provider has news of it: has the provider asked now. Harmless at any time.' },
  );
  const summary = `${terms.referenceId}: money after the end`;
  const local = proxyLocalActivities<Activities>({ ...AT_ONCE, summary });
  const regular = proxyActivities<Activities>({ ...UNTIL_CLEAR, summary });

  while (reported) {
    reported = false;
    result = await take('receiveLatePayment');
    const nextWaitMs = backOff(REFUND_POLL_BACKOFF);
    while (isOpen(result)) {
      if (patched('late-payment-queries-once-per-report')) reported = false;
      result = await take('refundLatePayment');
      if (isOpen(result)) await condition(() => reported, nextWaitMs());
      // The next run begins by asking the provider: a report that is not served yet is not lost.
      if (workflowInfo().historyLength >= MAX_HISTORY_EVENTS) return continueAsNew<typeof latePayment>(terms);
    }
  }
  return result.status;

  async function take(step: Step): Promise<LatePaymentResult> {
    const request = { terms, atMs: Date.now() };
    if (!patched('late-payment-steps-are-local-first')) return show(await regular[step](request));
    const taken = await runStep({
      local: () => local[step](request),
      regular: () => regular[step](request),
      onRetrying: () =>
        show({ ...result, attention: `${STEPS[step]} is being retried; its pending activity shows why` }),
      isInterrupted: () => false,
    });
    return show(taken ?? result);
  }

  function show(now: LatePaymentResult): LatePaymentResult {
    if ((now.attention === undefined) !== (result.attention === undefined)) {
      upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.needsAttention, value: now.attention !== undefined }]);
    }
    const concern = now.attention === undefined ? '' : `\n\n**Needs attention:** ${now.attention}`;
    setCurrentDetails(`**${now.status}**: ${MEANINGS[now.status]} (${formatRupiah(terms.totalRupiah)}).${concern}`);
    result = now;
    return now;
  }
}

/** The money is received, and it is not decided yet what becomes of it. */
function isOpen({ status }: LatePaymentResult): boolean {
  return status === 'received' || status === 'submitted';
}

const STEPS = {
  receiveLatePayment: 'the query whether money came after the end',
  refundLatePayment: 'the refund',
} as const satisfies Record<Step, string>;

const MEANINGS = {
  none: 'no money came after the end',
  received: 'money came after the end, and is held in suspense',
  submitted: 'the provider is asked to give it back',
  refunded: 'the customer has it back',
  kept: 'nobody gives it back by a rule: see `lunas exceptions list`',
} as const satisfies Record<LatePaymentResult['status'], string>;
