import {
  CancellationScope,
  condition,
  continueAsNew,
  proxyLocalActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities';
import type { LatePaymentResult } from '../src/domain/late-payment';
import { formatRupiah } from '../src/domain/money';
import { OPERATOR_STEPS } from '../src/domain/operator-steps';
import type { PaymentTerms } from '../src/domain/payment';
import { authentic } from './authentic';
import { PAID_SIGNAL_DESCRIPTION, paidSignal } from './messages';
import { OperatorView } from './operator-view';
import { regularActivities } from './regular-activities';
import {
  exponentialBackoff,
  HOUR_MS,
  LOCAL_ACTIVITY_OPTIONS,
  MAX_HISTORY_EVENTS,
  SECOND_MS,
  UNLIMITED_RETRY,
} from './retry-policies';
import { runStep } from './run-step';
import { forceSingleBatchActivation } from './sdk-single-batch-flag';

/**
 * Between two status queries while the bank has not confirmed the refund. A notification causes one more query and
 * counts as one, so that copies of it cannot make the workflow query often.
 */
const REFUND_POLL_BACKOFF = { initialMs: 5 * SECOND_MS, maxMs: HOUR_MS } as const;

/** The name of the timer in the Web UI. */
const NEXT_QUERY = { summary: 'the next status query' } as const;

const STATUS_DESCRIPTIONS = {
  none: 'no late payment',
  received: 'the late payment is in suspense',
  submitted: 'the refund is requested from the provider',
  refunded: 'the customer received the refund',
  manual_review: `${OPERATOR_STEPS.reviewLatePayment}: an operator decides, in its exception`,
} as const satisfies Record<LatePaymentResult['status'], string>;

const ACTIVITY_SUMMARIES = {
  recordLatePayment: 'the query for a late payment',
  refundLatePayment: 'the refund',
} as const satisfies Partial<Record<keyof Activities, string>>;

/**
 * The provider's status of a final payment may have changed. Customers do pay a QR code that has expired or is
 * cancelled: the money is held in suspense and refunded, or an operator decides.
 */
export function latePayment(terms: PaymentTerms): Promise<LatePaymentResult['status']> {
  return CancellationScope.nonCancellable(async () => run(authentic(terms)));
}

async function run(terms: PaymentTerms): Promise<LatePaymentResult['status']> {
  forceSingleBatchActivation();
  let hasProviderUpdate = true;
  let result: LatePaymentResult = { status: 'none' };
  const view = new OperatorView(
    () => `**${result.status}**: ${STATUS_DESCRIPTIONS[result.status]} (${formatRupiah(terms.totalRupiah)}).`,
  );
  setHandler(
    paidSignal,
    () => {
      hasProviderUpdate = true;
    },
    { description: PAID_SIGNAL_DESCRIPTION },
  );
  const summary = `${terms.referenceId}: late payment`;
  const localActivities = proxyLocalActivities<Activities>({ ...LOCAL_ACTIVITY_OPTIONS, summary });

  while (hasProviderUpdate) {
    hasProviderUpdate = false;
    await runLateStep('recordLatePayment');
    const nextDelayMs = exponentialBackoff(REFUND_POLL_BACKOFF);
    while (isOpen(result)) {
      hasProviderUpdate = false;
      await runLateStep('refundLatePayment');
      if (isOpen(result)) await condition(() => hasProviderUpdate, nextDelayMs(), NEXT_QUERY);
      // The next run starts with a status query, so a provider update that is not handled yet is not lost.
      if (workflowInfo().historyLength >= MAX_HISTORY_EVENTS) return continueAsNew<typeof latePayment>(terms);
    }
  }
  return result.status;

  async function runLateStep(step: keyof typeof ACTIVITY_SUMMARIES): Promise<void> {
    const request = { terms, atMs: Date.now() };
    const attentionReason = `${ACTIVITY_SUMMARIES[step]} is being retried; its pending activity shows why`;
    const completed = await runStep({
      local: () => localActivities[step](request),
      regular: (before) => regularActivities({ ...UNLIMITED_RETRY, summary, ...before })[step](request),
      onRetrying: () => view.setAttention(attentionReason),
      isInterrupted: () => false,
    });
    result = completed ?? result;
    view.setAttention(result.attentionReason ?? null);
  }
}

/** Received, and neither refunded nor in manual review. */
function isOpen({ status }: LatePaymentResult): boolean {
  return status === 'received' || status === 'submitted';
}
