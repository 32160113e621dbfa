import { WorkflowIdReusePolicy, type WorkflowStartOptions } from '@temporalio/client';
import type { SearchAttributePair } from '@temporalio/common';
import { latePaymentWorkflowId, PAYMENTS_TASK_QUEUE, paymentWorkflowId, PAYOUTS_TASK_QUEUE } from '../../workflows/ids';
import type { latePayment } from '../../workflows/late-payment';
import { SEARCH_ATTRIBUTES } from '../../workflows/messages';
import type { payment } from '../../workflows/payment';
import type { ResumeState } from '../../workflows/payment-run';
import { formatRupiah } from '../domain/money';
import { expiryOf, type PaymentTerms } from '../domain/payment';
import { fairnessKeyFor } from './fairness-key';

/**
 * With Temporal's defaults (10 s each) a create took 11.7 s if a worker died during it, an update after that 11.0 s.
 * With 3 s here and 1 s for the sticky queue (worker) it is 4.7 s and 2.0 s. `activities/provider-deadline.ts` relies
 * on it.
 */
const WORKFLOW_TASK_TIMEOUT = '3 seconds';

export function paymentStartOptions(
  terms: PaymentTerms,
  resumeState?: ResumeState,
): WorkflowStartOptions<typeof payment> {
  const expiresAtMs = expiryOf(resumeState?.createdAtMs ?? Date.now(), terms);
  return {
    workflowId: paymentWorkflowId(terms.paymentId),
    workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
    workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
    taskQueue: PAYMENTS_TASK_QUEUE,
    args: resumeState ? [terms, resumeState] : [terms],
    priority: { fairnessKey: fairnessKeyFor(expiresAtMs, terms.expiresInSeconds) },
    staticSummary: `${formatRupiah(terms.totalRupiah)} by ${terms.provider}, ${terms.referenceId}`,
    typedSearchAttributes: [
      { key: SEARCH_ATTRIBUTES.paymentStatus, value: resumeState?.state.status ?? 'created' },
      ...searchAttributesOf(terms),
    ],
  };
}

export function latePaymentStartOptions(terms: PaymentTerms): WorkflowStartOptions<typeof latePayment> {
  return {
    workflowId: latePaymentWorkflowId(terms.paymentId),
    // Another notification may come after the last workflow completed.
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    taskQueue: PAYMENTS_TASK_QUEUE,
    args: [terms],
    staticSummary: `${terms.referenceId}: late payment`,
    typedSearchAttributes: searchAttributesOf(terms),
  };
}

/**
 * What the workflows of a merchant's payouts and bank accounts have in common. Both may run again after they ended: the
 * bank may report something else, and an account is inquired again before it is reactivated.
 */
export function payoutsQueueOptions(merchantId: string) {
  return {
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    taskQueue: PAYOUTS_TASK_QUEUE,
    priority: { fairnessKey: merchantId },
    typedSearchAttributes: [
      { key: SEARCH_ATTRIBUTES.merchantId, value: merchantId },
      { key: SEARCH_ATTRIBUTES.needsAttention, value: false },
    ],
  };
}

function searchAttributesOf(terms: PaymentTerms): SearchAttributePair[] {
  return [
    { key: SEARCH_ATTRIBUTES.merchantId, value: terms.merchantId },
    { key: SEARCH_ATTRIBUTES.provider, value: terms.provider },
    { key: SEARCH_ATTRIBUTES.referenceId, value: terms.referenceId },
    { key: SEARCH_ATTRIBUTES.needsAttention, value: false },
  ];
}
