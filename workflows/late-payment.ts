import {
  CancellationScope,
  condition,
  continueAsNew,
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
import {
  LOCAL_ACTIVITY_OPTIONS,
  exponentialBackoff,
  HOUR_MS,
  MAX_HISTORY_EVENTS,
  SECOND_MS,
  UNLIMITED_RETRY,
} from './retry-policies';
import { paidSignal, SEARCH_ATTRIBUTES } from './messages';
import { forceSingleBatchActivation } from './sdk-single-batch-flag';
import { runStep } from './run-step';

/**
 * Between two status queries while the bank has not confirmed the refund. A notification causes one more query and counts
 * as one, so that copies of it cannot make the workflow query often.
 */
const REFUND_POLL_BACKOFF = { initialMs: 5 * SECOND_MS, maxMs: HOUR_MS } as const;

/**
 * There is news of a payment that has ended. Customers do pay a QR that expired or was cancelled: the money is held in
 * suspense and given back, or a person sees to it; nothing is dropped.
 */
export function latePayment(terms: PaymentTerms): Promise<LatePaymentResult['status']> {
  return CancellationScope.nonCancellable(() => run(terms));
}

type Step = 'recordLatePayment' | 'refundLatePayment';

async function run(terms: PaymentTerms): Promise<LatePaymentResult['status']> {
  forceSingleBatchActivation();
  let hasProviderUpdate = true;
  let result: LatePaymentResult = { status: 'none' };
  setHandler(
    paidSignal,
    () => {
      hasProviderUpdate = true;
    },
    { description: 'The provider has news of it: has the provider asked now. Harmless at any time.' },
  );
  const summary = `${terms.referenceId}: money after the end`;
  const local = proxyLocalActivities<Activities>({ ...LOCAL_ACTIVITY_OPTIONS, summary });
  const regular = proxyActivities<Activities>({ ...UNLIMITED_RETRY, summary });

  while (hasProviderUpdate) {
    hasProviderUpdate = false;
    result = await runLateStep('recordLatePayment');
    const nextDelayMs = exponentialBackoff(REFUND_POLL_BACKOFF);
    while (isOpen(result)) {
      hasProviderUpdate = false;
      result = await runLateStep('refundLatePayment');
      if (isOpen(result)) await condition(() => hasProviderUpdate, nextDelayMs());
      // The next run begins by asking the provider: a report that is not served yet is not lost.
      if (workflowInfo().historyLength >= MAX_HISTORY_EVENTS) return continueAsNew<typeof latePayment>(terms);
    }
  }
  return result.status;

  async function runLateStep(step: Step): Promise<LatePaymentResult> {
    const request = { terms, atMs: Date.now() };
    const completed = await runStep({
      local: () => local[step](request),
      regular: () => regular[step](request),
      onRetrying: () =>
        applyResult({
          ...result,
          attentionReason: `${ACTIVITY_SUMMARIES[step]} is being retried; its pending activity shows why`,
        }),
      isInterrupted: () => false,
    });
    return applyResult(completed ?? result);
  }

  function applyResult(now: LatePaymentResult): LatePaymentResult {
    if ((now.attentionReason === undefined) !== (result.attentionReason === undefined)) {
      upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.needsAttention, value: now.attentionReason !== undefined }]);
    }
    const concern = now.attentionReason === undefined ? '' : `\n\n**Needs attention:** ${now.attentionReason}`;
    setCurrentDetails(
      `**${now.status}**: ${STATUS_DESCRIPTIONS[now.status]} (${formatRupiah(terms.totalRupiah)}).${concern}`,
    );
    result = now;
    return now;
  }
}

/** The money is received, and it is not decided yet what becomes of it. */
function isOpen({ status }: LatePaymentResult): boolean {
  return status === 'received' || status === 'submitted';
}

const ACTIVITY_SUMMARIES = {
  recordLatePayment: 'the query whether money came after the end',
  refundLatePayment: 'the refund',
} as const satisfies Record<Step, string>;

const STATUS_DESCRIPTIONS = {
  none: 'no money came after the end',
  received: 'money came after the end, and is held in suspense',
  submitted: 'the provider is asked to give it back',
  refunded: 'the customer has it back',
  manual_review: 'nobody gives it back by a rule: see `lunas exceptions list`',
} as const satisfies Record<LatePaymentResult['status'], string>;
