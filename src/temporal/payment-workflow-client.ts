import {
  ScheduleAlreadyRunning,
  ScheduleOverlapPolicy,
  WithStartWorkflowOperation,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  type Client,
  type WorkflowHandle,
  type WorkflowStartOptions,
} from '@temporalio/client';
import { ApplicationFailure, type SearchAttributePair } from '@temporalio/common';
import { validate as isUuid } from 'uuid';
import { creationIn, type RecordedCreation } from './creation-history';
import { fairnessKeyFor } from './fairness-key';
import { isAlreadyExists, isUnsupported } from './grpc-errors';
import { formatRupiah } from '../domain/money';
import { expiryOf, type PaymentTerms } from '../domain/payment';
import type { Actor } from '../domain/workflow-step';
import { PAYMENT_STATUSES, type PaymentStatus } from '../domain/payment-transitions';
import type { WorkflowRecord } from '../domain/reconciliation';
import type { Logger } from '../logger';
import type { FailedDelivery } from '../webhooks/relay';
import {
  cancelUpdate,
  CREATE_UPDATE_ID,
  createUpdate,
  failUpdate,
  latePaymentWorkflowId,
  paidSignal,
  toPaymentId,
  PAYMENTS_TASK_QUEUE,
  paymentWorkflowId,
  refundUpdate,
  REQUEST_REJECTED,
  resolveRefundUpdate,
  retryRefundUpdate,
  SEARCH_ATTRIBUTES,
  settleUpdate,
  statusQuery,
  webhookWorkflowId,
  WEBHOOKS_TASK_QUEUE,
  type PaymentWorkflowStatus,
  type RefundResolution,
} from '../../workflows/messages';
import type * as workflows from '../../workflows/index';
import type { latePayment } from '../../workflows/late-payment';
import type { payment, ResumeState } from '../../workflows/payment';
import type { webhookDelivery } from '../../workflows/webhook-delivery';

/** What a call may take in all; the API answers within 10 s. */
const UPDATE_TIMEOUT_MS = 9_000;
const SIGNAL_TIMEOUT_MS = 5_000;

/**
 * With Temporal's defaults (10 s each) a create during a worker's death took 11.7 s, an update after it 11.0 s; with
 * 3 s here and 1 s for the sticky queue (worker) 4.7 s and 2.0 s. `activities/provider-call.ts` reckons with it.
 */
const WORKFLOW_TASK_TIMEOUT = '3 seconds';

/**
 * `done`, and what the payment became. `no_workflow`: its life is over. `refused`: it stays what it is, for that reason; `status` is
 * what the workflow took it for.
 */
export type RequestOutcome =
  | { readonly outcome: 'done'; readonly status: PaymentStatus }
  | { readonly outcome: 'no_workflow' }
  | { readonly outcome: 'rejected'; readonly reason: string; readonly status: PaymentStatus | undefined };

/** A payment's workflow, as Temporal's visibility lists it. */
export interface ListedWorkflow {
  readonly workflowId: string;
  /** Any text if the workflow was started by hand. */
  readonly paymentId: string;
  readonly isRunning: boolean;
}

export interface WorkflowPage {
  readonly items: readonly ListedWorkflow[];
  /** Null on the last page. */
  readonly next: string | null;
}

const WORKFLOWS_A_PAGE = 500;

/** The schedule, and the workflow that it starts. */
const RECONCILIATION = 'reconciliation';

/** Starts only what Temporal has not, or what somebody terminated. */
const START_IF_MISSING = {
  workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
  workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
} as const;

/** The calls that the API, the operators and the relay make to Temporal. */
export class PaymentWorkflowClient {
  constructor(
    private readonly client: Client,
    private readonly deadlineAtMs = Infinity,
    private readonly inFlight = new Set<Promise<unknown>>(),
  ) {}

  /** The same engine for work whose caller hears nothing after this time (Unix): what it asks for is given up then. */
  withDeadline(deadlineAtMs: number): PaymentWorkflowClient {
    return new PaymentWorkflowClient(this.client, deadlineAtMs, this.inFlight);
  }

  /**
   * Starts the payment's workflow, or joins the one that runs, and waits until its creation can be answered.
   * When it returns, the row in PostgreSQL has the answer.
   * @throws when that is not known within 9 s: the same request may be sent again
   */
  async createPayment(terms: PaymentTerms): Promise<void> {
    const startWorkflowOperation = new WithStartWorkflowOperation<typeof payment>('payment', {
      ...paymentStartOptions(terms),
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    });
    try {
      await this.withTimeout(UPDATE_TIMEOUT_MS, () =>
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

  /** Has the payment's workflow cancel it, or its held refund, and waits until that is decided. */
  cancelPayment(paymentId: string): Promise<RequestOutcome> {
    return this.request(paymentId, (workflow) => workflow.executeUpdate(cancelUpdate));
  }

  /** Has the payment's workflow open a refund; answers when it is held. */
  refundPayment(paymentId: string): Promise<RequestOutcome> {
    return this.request(paymentId, (workflow) => workflow.executeUpdate(refundUpdate));
  }

  /** An operator settles a payment whose settlement is manual. */
  settlePayment(paymentId: string, by: Actor): Promise<RequestOutcome> {
    return this.request(paymentId, (workflow) => workflow.executeUpdate(settleUpdate, { args: [by] }));
  }

  /** An operator ends a payment that no rule can end. */
  failPayment(paymentId: string, by: Actor): Promise<RequestOutcome> {
    return this.request(paymentId, (workflow) => workflow.executeUpdate(failUpdate, { args: [by] }));
  }

  /** An operator has a refused refund tried once more. */
  retryRefund(paymentId: string, by: Actor): Promise<RequestOutcome> {
    return this.request(paymentId, (workflow) => workflow.executeUpdate(retryRefundUpdate, { args: [by] }));
  }

  /** An operator ends a refused refund. */
  resolveRefund(paymentId: string, by: Actor, as: RefundResolution): Promise<RequestOutcome> {
    return this.request(paymentId, (workflow) => workflow.executeUpdate(resolveRefundUpdate, { args: [by, as] }));
  }

  /** Has the payment's workflow ask the provider whether it was paid. `no_workflow`: its life is over. */
  async signalProviderUpdate(paymentId: string): Promise<'signalled' | 'no_workflow'> {
    try {
      await this.withTimeout(SIGNAL_TIMEOUT_MS, () =>
        this.client.workflow.getHandle(paymentWorkflowId(paymentId)).signal(paidSignal),
      );
      return 'signalled';
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return 'no_workflow';
      throw error;
    }
  }

  /** Lets a payment whose workflow was lost go on where PostgreSQL says. Temporal refuses where it still has one. */
  resumePayment(terms: PaymentTerms, resumption: ResumeState): Promise<'rebuilt' | 'running'> {
    return this.rebuild(() =>
      this.client.workflow.start<typeof payment>('payment', {
        ...paymentStartOptions(terms, resumption),
        ...START_IF_MISSING,
      }),
    );
  }

  /**
   * The same for a payment whose workflow has completed, although PostgreSQL has the payment as open: PostgreSQL was restored
   * to an earlier time. The workflow asks the provider first.
   */
  async restartPayment(terms: PaymentTerms, resumption: ResumeState): Promise<void> {
    await this.withTimeout(SIGNAL_TIMEOUT_MS, () =>
      this.client.workflow.signalWithStart<typeof payment>('payment', {
        ...paymentStartOptions(terms, resumption),
        workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
        signal: paidSignal,
        signalArgs: [],
      }),
    );
  }

  /** The same for a late payment. One that has completed starts again: PostgreSQL has it as open. */
  resumeLatePayment(terms: PaymentTerms): Promise<'rebuilt' | 'running'> {
    return this.rebuild(() =>
      this.client.workflow.start<typeof latePayment>('latePayment', {
        ...latePaymentStartOptions(terms),
        workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
        workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
      }),
    );
  }

  /** What the latest run of a payment's workflow was started with and has recorded of its creation. */
  async readCreation(paymentId: string): Promise<RecordedCreation> {
    const workflow = this.client.workflow.getHandle(paymentWorkflowId(paymentId));
    const history = await this.withTimeout(SIGNAL_TIMEOUT_MS, () => workflow.fetchHistory());
    return creationIn(history, this.client.options.loadedDataConverter);
  }

  /** The deliveries whose retry workflow runs, as far as Temporal's visibility has them. */
  async *listRetriedDeliveryIds(): AsyncGenerator<string> {
    const query = "WorkflowType = 'webhookDelivery' and ExecutionStatus = 'Running'";
    for await (const { workflowId } of this.client.workflow.list({ query })) {
      const deliveryId = workflowId.slice(webhookWorkflowId('').length);
      if (isUuid(deliveryId)) yield deliveryId;
    }
  }

  /** Ends the retries of a delivery that PostgreSQL no longer has. */
  async terminateRetryWorkflow(deliveryId: string, reason: string): Promise<void> {
    await this.withTimeout(SIGNAL_TIMEOUT_MS, () =>
      this.client.workflow.getHandle(webhookWorkflowId(deliveryId)).terminate(reason),
    );
  }

  /** Whether the retries of a delivery are in the hands of a workflow that lives. */
  async isRetryWorkflowRunning(deliveryId: string): Promise<boolean> {
    try {
      const { status } = await this.withTimeout(SIGNAL_TIMEOUT_MS, () =>
        this.client.workflow.getHandle(webhookWorkflowId(deliveryId)).describe(),
      );
      return status.name === 'RUNNING';
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    }
  }

  /** Whether the payment's workflow runs, and at which status it stands; null when Temporal knows no such workflow. */
  async describeWorkflow(paymentId: string): Promise<WorkflowRecord | null> {
    try {
      const { status, typedSearchAttributes } = await this.withTimeout(SIGNAL_TIMEOUT_MS, () =>
        this.client.workflow.getHandle(paymentWorkflowId(paymentId)).describe(),
      );
      const paymentStatus = typedSearchAttributes.get(SEARCH_ATTRIBUTES.paymentStatus) ?? null;
      return { isRunning: status.name === 'RUNNING', status: paymentStatus };
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return null;
      throw error;
    }
  }

  /**
   * A page of the payment workflows that were started before `until`, as far as Temporal's visibility has them: those that run, and
   * those that were started since then. `after` is the `next` of the page before.
   */
  async listPaymentWorkflows(since: Date, until: Date, after: string | null): Promise<WorkflowPage> {
    const { executions, nextPageToken } = await this.withTimeout(SIGNAL_TIMEOUT_MS, () =>
      this.client.workflowService.listWorkflowExecutions({
        namespace: this.client.options.namespace,
        query: `WorkflowType = 'payment' and StartTime < '${until.toISOString()}'
          and (ExecutionStatus = 'Running' or StartTime >= '${since.toISOString()}')`,
        pageSize: WORKFLOWS_A_PAGE,
        nextPageToken: after === null ? null : Buffer.from(after, 'base64'),
      }),
    );
    const items = executions.map(({ execution, closeTime }) => {
      const workflowId = execution?.workflowId ?? '';
      return { workflowId, paymentId: toPaymentId(workflowId), isRunning: !closeTime };
    });
    return { items, next: nextPageToken.length === 0 ? null : Buffer.from(nextPageToken).toString('base64') };
  }

  private async rebuild(start: () => Promise<unknown>): Promise<'rebuilt' | 'running'> {
    try {
      await this.withTimeout(SIGNAL_TIMEOUT_MS, start);
      return 'rebuilt';
    } catch (error) {
      if (isAlreadyExists(error)) return 'running';
      throw error;
    }
  }

  /** Has the provider asked after a payment that has ended: money may have come all the same. */
  async signalLatePayment(terms: PaymentTerms): Promise<void> {
    await this.withTimeout(SIGNAL_TIMEOUT_MS, () =>
      this.client.workflow.signalWithStart<typeof latePayment>('latePayment', {
        ...latePaymentStartOptions(terms),
        // More news may come after the last was dealt with.
        workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
        signal: paidSignal,
        signalArgs: [],
      }),
    );
  }

  /** The workflow's own word on where the payment stands; undefined when Temporal knows no such workflow. */
  async queryStatus(paymentId: string): Promise<PaymentWorkflowStatus | undefined> {
    try {
      return await this.withTimeout(SIGNAL_TIMEOUT_MS, () =>
        this.client.workflow.getHandle(paymentWorkflowId(paymentId)).query(statusQuery),
      );
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    }
  }

  /**
   * Starts the retries of a delivery whose first try failed. Those that run already begin anew: it was redelivered, or
   * the relay died between this call and its record.
   */
  async startRetryWorkflow({ delivery, attempt, delaySeconds: waitSeconds }: FailedDelivery): Promise<void> {
    const { deliveryId, endpointId, event, merchantId, paymentId, referenceId, url } = delivery;
    const summary = `${event} of ${referenceId} to ${new URL(url).host}`;
    const input = {
      deliveryId,
      initialDelayMs: Math.round(waitSeconds * 1_000),
      summary,
      firstFailure: attempt.failure ?? 'unknown',
    };
    await this.withTimeout(SIGNAL_TIMEOUT_MS, () =>
      this.client.workflow.start<typeof webhookDelivery>('webhookDelivery', {
        workflowId: webhookWorkflowId(deliveryId),
        workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
        workflowIdConflictPolicy: WorkflowIdConflictPolicy.TERMINATE_EXISTING,
        taskQueue: WEBHOOKS_TASK_QUEUE,
        args: [input],
        staticSummary: summary,
        // No path or query of the address: merchants put secrets there.
        staticDetails: `Endpoint ${endpointId}\n\nDelivery ${deliveryId}\n\nPayment ${paymentId}`,
        priority: { fairnessKey: merchantId },
        typedSearchAttributes: [
          { key: SEARCH_ATTRIBUTES.merchantId, value: merchantId },
          { key: SEARCH_ATTRIBUTES.referenceId, value: referenceId },
        ],
      }),
    );
  }

  /** Has Temporal start the reconciliation every hour; where it does already, an operator's changes to that stay. */
  async scheduleReconciliation(log: Logger): Promise<void> {
    try {
      await this.client.schedule.create({
        scheduleId: RECONCILIATION,
        spec: { intervals: [{ every: '1 hour' }] },
        policies: { overlap: ScheduleOverlapPolicy.SKIP },
        action: {
          type: 'startWorkflow',
          workflowType: 'reconcile' satisfies keyof typeof workflows,
          workflowId: RECONCILIATION,
          taskQueue: PAYMENTS_TASK_QUEUE,
        },
      });
    } catch (error) {
      if (error instanceof ScheduleAlreadyRunning) return;
      if (!isUnsupported(error)) throw error;
      log.warn('this Temporal offers no schedules: have `lunas reconcile` run every hour in another way');
    }
  }

  /** @throws when Temporal does not answer */
  async ping(): Promise<void> {
    await this.withTimeout(SIGNAL_TIMEOUT_MS, () => this.client.connection.workflowService.getSystemInfo({}));
  }

  /** Ends after what is under way: the SDK's next try of a call would throw at a closed connection, where nobody catches it. */
  async close(): Promise<void> {
    await Promise.allSettled(this.inFlight);
    await this.client.connection.close();
  }

  /** @throws when the outcome is not known within 9 s */
  private async request(
    paymentId: string,
    send: (workflow: WorkflowHandle) => Promise<PaymentStatus>,
  ): Promise<RequestOutcome> {
    const workflow = this.client.workflow.getHandle(paymentWorkflowId(paymentId));
    try {
      const status = await this.withTimeout(UPDATE_TIMEOUT_MS, () => send(workflow));
      return { outcome: 'done', status };
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return { outcome: 'no_workflow' };
      const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
      if (cause instanceof ApplicationFailure && cause.type === REQUEST_REJECTED) {
        return { outcome: 'rejected', reason: cause.message, status: statusIn(cause) };
      }
      throw error;
    }
  }

  private async withTimeout<T>(deadlineMs: number, call: () => Promise<T>): Promise<T> {
    const result = this.client.connection.withDeadline(Math.min(Date.now() + deadlineMs, this.deadlineAtMs), call);
    this.inFlight.add(result);
    try {
      return await result;
    } finally {
      this.inFlight.delete(result);
    }
  }
}

/** Workflows of before this was told do not say. */
function statusIn({ details }: ApplicationFailure): PaymentStatus | undefined {
  return PAYMENT_STATUSES.find((status) => status === details?.[0]);
}

function paymentStartOptions(terms: PaymentTerms, resumption?: ResumeState): WorkflowStartOptions<typeof payment> {
  const expiresAtMs = expiryOf(resumption?.createdAtMs ?? Date.now(), terms);
  return {
    workflowId: paymentWorkflowId(terms.paymentId),
    workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
    workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
    taskQueue: PAYMENTS_TASK_QUEUE,
    args: resumption ? [terms, resumption] : [terms],
    priority: { fairnessKey: fairnessKeyFor(expiresAtMs, terms.expiresInSeconds) },
    staticSummary: `${formatRupiah(terms.totalRupiah)} by ${terms.provider}, ${terms.referenceId}`,
    typedSearchAttributes: [
      { key: SEARCH_ATTRIBUTES.paymentStatus, value: resumption?.state.status ?? 'created' },
      ...searchAttributesOf(terms),
    ],
  };
}

function latePaymentStartOptions(terms: PaymentTerms): WorkflowStartOptions<typeof latePayment> {
  return {
    workflowId: latePaymentWorkflowId(terms.paymentId),
    taskQueue: PAYMENTS_TASK_QUEUE,
    args: [terms],
    staticSummary: `${terms.referenceId}: news after its end`,
    typedSearchAttributes: searchAttributesOf(terms),
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
