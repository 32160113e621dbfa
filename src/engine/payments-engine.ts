import {
  WithStartWorkflowOperation,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  type Client,
  type WorkflowStartOptions,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { isAlreadyExists } from './grpc-errors';
import { formatRupiah } from '../domain/money';
import type { PaymentTerms } from '../domain/payment';
import type { Delivery } from '../webhooks/deliveries';
import {
  cancelUpdate,
  CREATE_UPDATE_ID,
  createUpdate,
  paidSignal,
  PAYMENTS_TASK_QUEUE,
  paymentWorkflowId,
  REFUSED,
  SEARCH_ATTRIBUTES,
  statusQuery,
  webhookWorkflowId,
  WEBHOOKS_TASK_QUEUE,
  type PaymentReport,
} from '../../workflows/messages';
import type { payment } from '../../workflows/payment';
import type { webhookDelivery } from '../../workflows/webhook-delivery';

/** What a call may take in all; the API answers by then. */
const UPDATE_DEADLINE_MS = 10_000;
const SIGNAL_DEADLINE_MS = 5_000;

/**
 * With Temporal's defaults (10 s each) a create during a worker's death took 11.7 s, an update after it 11.0 s; with
 * 3 s here and 1 s for the sticky queue (worker) 4.7 s and 2.0 s.
 */
const WORKFLOW_TASK_TIMEOUT = '3 seconds';

export type CancelOutcome =
  { readonly outcome: 'done' | 'no_workflow' } | { readonly outcome: 'refused'; readonly reason: string };

/** The calls that the API, the operators and the relay make to Temporal. */
export class PaymentsEngine {
  constructor(private readonly client: Client) {}

  /**
   * Starts the payment's workflow, or joins the one that runs, and waits until its creation can be answered.
   * When it returns, the row in PostgreSQL has the answer.
   * @throws when that is not known within 10 s: the same request may be sent again
   */
  async createPayment(terms: PaymentTerms): Promise<void> {
    const startWorkflowOperation = new WithStartWorkflowOperation<typeof payment>('payment', {
      ...paymentStartOptions(terms),
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    });
    try {
      await this.within(UPDATE_DEADLINE_MS, () =>
        this.client.workflow.executeUpdateWithStart(createUpdate, {
          updateId: CREATE_UPDATE_ID,
          startWorkflowOperation,
        }),
      );
    } catch (error) {
      // Its life is over already: PostgreSQL has the answer.
      if (!isAlreadyExists(error)) throw error;
    }
  }

  /**
   * Has the payment's workflow cancel it, and waits until the provider has decided.
   * `no_workflow`: its life is over. `refused`: it stays what it is, for the reason given.
   * @throws when that is not known within 10 s
   */
  async cancelPayment(paymentId: string): Promise<CancelOutcome> {
    try {
      await this.within(UPDATE_DEADLINE_MS, () =>
        this.client.workflow.getHandle(paymentWorkflowId(paymentId)).executeUpdate(cancelUpdate),
      );
      return { outcome: 'done' };
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return { outcome: 'no_workflow' };
      const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
      if (cause instanceof ApplicationFailure && cause.type === REFUSED) {
        return { outcome: 'refused', reason: cause.message };
      }
      throw error;
    }
  }

  /** Has the payment's workflow ask the provider whether it was paid. `no_workflow`: its life is over. */
  async reportPaid(paymentId: string): Promise<'signalled' | 'no_workflow'> {
    try {
      await this.within(SIGNAL_DEADLINE_MS, () =>
        this.client.workflow.getHandle(paymentWorkflowId(paymentId)).signal(paidSignal),
      );
      return 'signalled';
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return 'no_workflow';
      throw error;
    }
  }

  /** The workflow's own word on where the payment stands; undefined when Temporal knows no such workflow. */
  async askStatus(paymentId: string): Promise<PaymentReport | undefined> {
    try {
      return await this.within(SIGNAL_DEADLINE_MS, () =>
        this.client.workflow.getHandle(paymentWorkflowId(paymentId)).query(statusQuery),
      );
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    }
  }

  /** Starts the retries of a delivery whose first try failed; where they run already, nothing happens. */
  async retryDelivery(delivery: Delivery, waitSeconds: number): Promise<void> {
    const summary = `${delivery.event} of ${delivery.referenceId} to ${delivery.url}`;
    const firstWaitMs = Math.round(waitSeconds * 1_000);
    try {
      await this.within(SIGNAL_DEADLINE_MS, () =>
        this.client.workflow.start<typeof webhookDelivery>('webhookDelivery', {
          workflowId: webhookWorkflowId(delivery.deliveryId),
          workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
          taskQueue: WEBHOOKS_TASK_QUEUE,
          args: [{ deliveryId: delivery.deliveryId, firstWaitMs, summary }],
          staticSummary: summary,
          priority: { fairnessKey: delivery.merchantId },
          typedSearchAttributes: [
            { key: SEARCH_ATTRIBUTES.merchantId, value: delivery.merchantId },
            { key: SEARCH_ATTRIBUTES.referenceId, value: delivery.referenceId },
          ],
        }),
      );
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }

  /** @throws when Temporal does not answer */
  async ping(): Promise<void> {
    await this.within(SIGNAL_DEADLINE_MS, () => this.client.connection.workflowService.getSystemInfo({}));
  }

  close(): Promise<void> {
    return this.client.connection.close();
  }

  private within<T>(deadlineMs: number, call: () => Promise<T>): Promise<T> {
    return this.client.connection.withDeadline(Date.now() + deadlineMs, call);
  }
}

function paymentStartOptions(terms: PaymentTerms): WorkflowStartOptions<typeof payment> {
  return {
    workflowId: paymentWorkflowId(terms.paymentId),
    workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
    workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
    taskQueue: PAYMENTS_TASK_QUEUE,
    args: [terms],
    staticSummary: `${formatRupiah(terms.totalRupiah)} by ${terms.provider}, ${terms.referenceId}`,
    typedSearchAttributes: [
      { key: SEARCH_ATTRIBUTES.paymentStatus, value: 'created' },
      { key: SEARCH_ATTRIBUTES.merchantId, value: terms.merchantId },
      { key: SEARCH_ATTRIBUTES.provider, value: terms.provider },
      { key: SEARCH_ATTRIBUTES.referenceId, value: terms.referenceId },
      { key: SEARCH_ATTRIBUTES.needsAttention, value: false },
    ],
  };
}
