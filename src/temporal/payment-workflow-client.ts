import { randomUUID } from 'node:crypto';
import { SpanKind, type SpanOptions } from '@opentelemetry/api';
import {
  WithStartWorkflowOperation,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  type Client,
  type WorkflowHandle,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { latePaymentWorkflowId, PAYMENTS_TASK_QUEUE, paymentWorkflowId } from '../../workflows/ids';
import type { latePayment } from '../../workflows/late-payment';
import {
  CREATE_UPDATE_ID,
  createUpdate,
  paidSignal,
  REQUEST_OUTDATED,
  REQUEST_REJECTED,
  statusQuery,
  type PaymentWorkflowStatus,
} from '../../workflows/messages';
import type { payment } from '../../workflows/payment';
import type { ResumeState } from '../../workflows/payment-run';
import type { StepActor } from '../domain/actor';
import type { PaymentTerms } from '../domain/payment';
import { PAYMENT_ACTIONS, type ActionDefinition, type PaymentAction } from '../domain/payment-actions';
import { PAYMENT_STATUSES, type PaymentStatus } from '../domain/payment-transitions';
import { updateProof, type UpdateArguments } from '../domain/update-arguments';
import { currentCorrelation } from '../observability/correlation';
import { withSpan } from '../observability/tracing';
import { BankAccountClient } from './bank-account-client';
import { BoundedClient, UPDATE_TIMEOUT_MS } from './bounded-client';
import { isAlreadyExists } from './grpc-errors';
import { PayoutClient } from './payout-client';
import { RetryWorkflowClient } from './retry-workflow-client';
import { RunClient } from './scheduled-runs';
import { WorkflowRecords, type ClosedRun, type DescribedWorkflow } from './workflow-records';
import { latePaymentStartOptions, paymentStartOptions } from './workflow-start-options';

/**
 * `done`: the action was performed, and led to `status`. `no_workflow`: the payment is final, or Temporal lost its
 * workflow. `rejected`: the payment did not change; `status` is the one in the workflow.
 */
export type RequestOutcome =
  | { readonly outcome: 'done'; readonly status: PaymentStatus }
  | { readonly outcome: 'no_workflow' }
  | { readonly outcome: 'rejected'; readonly reason: string; readonly status: PaymentStatus | undefined };

/** A payment, and its version in PostgreSQL. If the workflow has another version, the request is repeated with it. */
export interface RequestedPayment {
  readonly id: string;
  readonly version?: number;
}

/** Each attempt fails only if the payment changes at that moment. */
const MAX_REQUEST_ATTEMPTS = 5;

/** What the workflow of a payment reports while it runs, or how it closed. */
export type WorkflowRun = RunningWorkflow | ClosedRun;

type RunningWorkflow = { readonly state: 'running' } & PaymentWorkflowStatus & Pick<DescribedWorkflow, 'retriedStep'>;

/** What the API, the operators and the worker request of the workflows of payments. */
export class PaymentWorkflowClient {
  readonly retries: RetryWorkflowClient;
  readonly bankAccounts: BankAccountClient;
  readonly payouts: PayoutClient;
  readonly runs: RunClient;
  readonly records: WorkflowRecords;
  readonly #client: BoundedClient;

  constructor(client: Client | BoundedClient) {
    this.#client = client instanceof BoundedClient ? client : new BoundedClient(client);
    this.retries = new RetryWorkflowClient(this.#client);
    this.bankAccounts = new BankAccountClient(this.#client);
    this.payouts = new PayoutClient(this.#client);
    this.runs = new RunClient(this.#client);
    this.records = new WorkflowRecords(this.#client);
  }

  /** For work whose caller receives no response after this timestamp. */
  withDeadline(deadlineAtMs: number): PaymentWorkflowClient {
    return new PaymentWorkflowClient(this.#client.withDeadline(deadlineAtMs));
  }

  /**
   * Starts the payment's workflow, or joins the running one, and waits until the payment is issued or failed. Then
   * PostgreSQL has the result.
   * @throws Error if the result is not known in time: the same request may be sent again
   */
  createPayment(terms: PaymentTerms, timeoutMs = UPDATE_TIMEOUT_MS): Promise<void> {
    const span = workflowSpan('StartWorkflow:payment', paymentWorkflowId(terms.paymentId));
    return withSpan(span, () => this.#createPayment(terms, timeoutMs));
  }

  async #createPayment(terms: PaymentTerms, timeoutMs: number): Promise<void> {
    const startWorkflowOperation = new WithStartWorkflowOperation<typeof payment>('payment', {
      ...paymentStartOptions(withCurrentCorrelation(terms)),
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    });
    const options = { updateId: CREATE_UPDATE_ID, startWorkflowOperation };
    try {
      const create = ({ workflow }: Client) => workflow.executeUpdateWithStart(createUpdate, options);
      await this.#client.callWorker(PAYMENTS_TASK_QUEUE, create, timeoutMs);
    } catch (error) {
      // The workflow has completed: PostgreSQL has the result.
      if (!isAlreadyExists(error)) throw error;
    }
  }

  /**
   * Requests an action of the payment's workflow, and waits until the action is performed or rejected.
   * @throws Error if the outcome is not known within 9 s
   */
  request(payment: RequestedPayment, action: PaymentAction, actor: StepActor): Promise<RequestOutcome> {
    const span = workflowSpan(`UpdateWorkflow:${PAYMENT_ACTIONS[action].update}`, paymentWorkflowId(payment.id));
    const request = () => this.#requestAtVersion(payment, action, actor);
    return withSpan(span, request, ({ outcome }) => ({ attributes: { 'lunas.outcome': outcome } }));
  }

  async #requestAtVersion(
    { id, version = 0 }: RequestedPayment,
    ...requested: RequestedAction
  ): Promise<RequestOutcome> {
    for (let [attempt, current] = [1, version]; ; attempt += 1) {
      const result = await this.#request({ id, version: current }, ...requested);
      if (!('currentVersion' in result)) return result;
      if (attempt === MAX_REQUEST_ATTEMPTS) throw new Error(`Payment ${id} changes too often`);
      current = result.currentVersion;
    }
  }

  async #request(
    { id: paymentId, version }: Required<RequestedPayment>,
    ...[action, actor]: RequestedAction
  ): Promise<RequestOutcome | { readonly currentVersion: number }> {
    const { update, resolution }: ActionDefinition = PAYMENT_ACTIONS[action];
    const updateId = randomUUID();
    const args: [...UpdateArguments] = [
      actor,
      resolution ?? null,
      updateProof(update, updateId, version),
      currentCorrelation() ?? null,
    ];
    try {
      const status = await this.#client.callWorker(
        PAYMENTS_TASK_QUEUE,
        ({ workflow }) =>
          workflow
            .getHandle(paymentWorkflowId(paymentId))
            .executeUpdate<PaymentStatus, typeof args>(update, { args, updateId }),
        UPDATE_TIMEOUT_MS,
      );
      return { outcome: 'done', status };
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return { outcome: 'no_workflow' };
      const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
      if (cause instanceof ApplicationFailure && cause.type === REQUEST_REJECTED) {
        const status = PAYMENT_STATUSES.find((status) => status === cause.details?.[0]);
        return { outcome: 'rejected', reason: cause.message, status };
      }
      if (cause instanceof ApplicationFailure && cause.type === REQUEST_OUTDATED) {
        return { currentVersion: Number(cause.details?.[0]) };
      }
      throw error;
    }
  }

  /** Makes the payment's workflow query the provider. `no_workflow`: as for `request`. */
  async signalProviderUpdate(paymentId: string): Promise<'signalled' | 'no_workflow'> {
    const workflowId = paymentWorkflowId(paymentId);
    const signal = () =>
      this.#client.callWorkflow(workflowId, async (handle) => {
        await handle.signal(paidSignal);
        return 'signalled' as const;
      });
    return (await withSpan(workflowSpan('SignalWorkflow:paid', workflowId), signal)) ?? 'no_workflow';
  }

  /** Makes a workflow query the provider about a final payment: the customer may have paid after all. */
  async signalLatePayment(terms: PaymentTerms): Promise<void> {
    const signal = () =>
      this.#client.call(({ workflow }) =>
        workflow.signalWithStart<typeof latePayment>('latePayment', {
          ...latePaymentStartOptions(withCurrentCorrelation(terms)),
          signal: paidSignal,
          signalArgs: [],
        }),
      );
    await withSpan(workflowSpan('StartWorkflow:latePayment', latePaymentWorkflowId(terms.paymentId)), signal);
  }

  /** The status in the workflow; undefined if Temporal has no such workflow. */
  queryStatus(paymentId: string): Promise<PaymentWorkflowStatus | undefined> {
    const query = (handle: WorkflowHandle) => handle.query(statusQuery);
    return this.#client.queryWorkflow(PAYMENTS_TASK_QUEUE, paymentWorkflowId(paymentId), query);
  }

  /**
   * The last run of the payment's workflow; null if Temporal has no such workflow. A closed workflow is not
   * queried: its result would be the status in which it ended.
   */
  async readRun(paymentId: string): Promise<WorkflowRun | null> {
    const described = await this.records.describe(paymentId);
    if (described === null || described.closed) return described?.closed ?? null;
    const status = await this.queryStatus(paymentId);
    return status ? { state: 'running', ...status, retriedStep: described.retriedStep } : null;
  }

  /**
   * Starts the workflow of a payment again at the state in PostgreSQL, if Temporal lost it or an operator terminated
   * it.
   */
  resumePayment(terms: PaymentTerms, resumeState: ResumeState): Promise<'rebuilt' | 'running'> {
    return this.#startIfMissing(({ workflow }) =>
      workflow.start<typeof payment>('payment', {
        ...paymentStartOptions(terms, resumeState),
        workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
        workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
      }),
    );
  }

  /**
   * Starts the workflow again if it has completed but the payment is open in PostgreSQL, which was restored to an
   * earlier time. The workflow queries the provider first.
   */
  async restartPayment(terms: PaymentTerms, resumeState: ResumeState): Promise<void> {
    await this.#client.call(({ workflow }) =>
      workflow.signalWithStart<typeof payment>('payment', {
        ...paymentStartOptions(terms, resumeState),
        workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
        signal: paidSignal,
        signalArgs: [],
      }),
    );
  }

  /** Starts the workflow of a late payment that is open in PostgreSQL, also if an earlier one has completed. */
  resumeLatePayment(terms: PaymentTerms): Promise<'rebuilt' | 'running'> {
    return this.#startIfMissing(({ workflow }) =>
      workflow.start<typeof latePayment>('latePayment', {
        ...latePaymentStartOptions(terms),
        workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
      }),
    );
  }

  /**
   * Reads Temporal's database and a task queue, because the frontend responds to many calls from memory. Each call
   * looks for another workflow, so that in time every shard of the history is read.
   * @throws Error if one of them does not respond
   */
  async ping(): Promise<void> {
    await Promise.all([
      this.#client.callWorkflow(`ping-${randomUUID()}`, (handle) => handle.describe()),
      this.#client.call(({ workflowService, options: { namespace } }) =>
        workflowService.describeTaskQueue({ namespace, taskQueue: { name: PAYMENTS_TASK_QUEUE } }),
      ),
    ]);
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  async #startIfMissing(start: (client: Client) => Promise<unknown>): Promise<'rebuilt' | 'running'> {
    try {
      await this.#client.call(start);
      return 'rebuilt';
    } catch (error) {
      if (isAlreadyExists(error)) return 'running';
      throw error;
    }
  }
}

type RequestedAction = readonly [action: PaymentAction, actor: StepActor];

/** A span of a call to Temporal, with the name that Temporal's interceptors for OpenTelemetry use. */
function workflowSpan(name: string, workflowId: string): readonly [string, SpanOptions] {
  return [name, { kind: SpanKind.CLIENT, attributes: { 'temporal.workflow.id': workflowId } }];
}

/** The steps of the workflow are part of the request that starts it. */
function withCurrentCorrelation(terms: PaymentTerms): PaymentTerms {
  const correlation = currentCorrelation();
  return correlation ? { ...terms, correlation } : terms;
}
