import { randomUUID } from 'node:crypto';
import {
  WithStartWorkflowOperation,
  WorkflowIdConflictPolicy,
  WorkflowUpdateFailedError,
  type WorkflowHandle,
  type WorkflowStartOptions,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { bankStatus } from '../../workflows/bank-status';
import { bankStatusWorkflowId, PAYOUTS_TASK_QUEUE, payoutWorkflowId } from '../../workflows/ids';
import {
  bankUpdatedSignal,
  payoutStatusQuery,
  REQUEST_OUTDATED,
  REQUEST_REJECTED,
  requestPayoutUpdate,
  type PayoutWorkflowStatus,
} from '../../workflows/messages';
import type { payout } from '../../workflows/payout';
import type { StepActor } from '../domain/actor';
import { BANK_STATUS_TIMEOUT_MS, type BankStatusReport } from '../domain/bank-payout';
import type { PayoutState } from '../domain/payout';
import { PAYOUT_ACTIONS, type PayoutAction, type PayoutResolution } from '../domain/payout-actions';
import type { PayoutInput, PayoutRequestInput, PayoutRequestResult } from '../domain/payout-step';
import type { RetriedStep } from '../domain/retried-step';
import { updateProof, type UpdateArguments } from '../domain/update-arguments';
import { currentCorrelation } from '../observability/correlation';
import { UPDATE_TIMEOUT_MS, type BoundedClient } from './bounded-client';
import { isAlreadyExists } from './grpc-errors';
import { PayoutRecords, type RecordedPayoutRequest } from './payout-records';
import { toDescribedRun, type ClosedRun } from './workflow-records';
import { payoutsQueueOptions } from './workflow-start-options';

/** A payout and its merchant. A step of another merchant's payout is rejected. */
type PayoutKey = Pick<PayoutInput, 'payoutId' | 'merchantId'>;

/** `outdated`: the payout has another version than the one that the caller has seen. */
export type PayoutActionOutcome =
  | { readonly outcome: 'done'; readonly state: PayoutState }
  | { readonly outcome: 'rejected'; readonly reason: string }
  | { readonly outcome: 'outdated' };

/** Why the workflow of a lost payout was terminated. */
const ROW_LOST = 'PostgreSQL has lost the payout: recovery';

/** What the workflow of a payout reports while it runs, or how it closed. */
export type PayoutRunReport =
  ({ readonly state: 'running'; readonly retriedStep: RetriedStep | null } & PayoutWorkflowStatus) | ClosedRun;

/** What members, operators and the worker request of the workflows of payouts. */
export class PayoutClient {
  readonly records: PayoutRecords;

  constructor(private readonly client: BoundedClient) {
    this.records = new PayoutRecords(client);
  }

  /**
   * Reserves a merchant's balance for a payout. The same id gets the payout that it has, whatever its status.
   * @throws Error if the result is not known within 9 s: the same request may be sent again
   */
  async request(request: PayoutRequestInput): Promise<PayoutRequestResult> {
    const { payoutId, merchantId } = request;
    return this.#requestWithStart({ payoutId, merchantId, request });
  }

  /** How far the request of a payout is. `none`: Temporal has no workflow of it. */
  async findRequest(payoutId: string): Promise<'none' | 'undecided' | 'decided'> {
    const record = await this.records.describe(payoutId);
    if (record === null) return 'none';
    return record.isRunning && record.status === null ? 'undecided' : 'decided';
  }

  /**
   * Requests an action of a payout in the version that the caller has seen. A payout that rests has no workflow: it is
   * started again from PostgreSQL.
   * @throws Error if the outcome is not known within 9 s
   */
  async perform(
    { version, ...key }: PayoutKey & { readonly version: number },
    action: PayoutAction,
    actor: StepActor,
  ): Promise<PayoutActionOutcome> {
    const { update, ...definition } = PAYOUT_ACTIONS[action];
    const updateId = randomUUID();
    const args: [...UpdateArguments<PayoutResolution>] = [
      actor,
      'resolution' in definition ? definition.resolution : null,
      updateProof(update, updateId, version),
      currentCorrelation() ?? null,
    ];
    try {
      const startWorkflowOperation = startOperation(key);
      const state = await this.client.callWorker(
        PAYOUTS_TASK_QUEUE,
        ({ workflow }) =>
          workflow.executeUpdateWithStart<typeof payout, PayoutState, typeof args>(update, {
            args,
            updateId,
            startWorkflowOperation,
          }),
        UPDATE_TIMEOUT_MS,
      );
      return { outcome: 'done', state };
    } catch (error) {
      const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
      if (!(cause instanceof ApplicationFailure)) throw error;
      if (cause.type === REQUEST_OUTDATED) {
        // The workflow may be behind the row that the caller has seen.
        await this.notify(key).catch(() => undefined);
        return { outcome: 'outdated' };
      }
      if (cause.type === REQUEST_REJECTED) return { outcome: 'rejected', reason: cause.message };
      throw error;
    }
  }

  /** Makes the workflow look at the bank, and at what holds the payout back. Starts it if the payout rests. */
  async notify(key: PayoutKey): Promise<void> {
    await this.client.call(({ workflow }) =>
      workflow.signalWithStart<typeof payout>('payout', {
        ...startOptions(key),
        signal: bankUpdatedSignal,
        signalArgs: [],
      }),
    );
  }

  /** Starts the workflow of an open payout that Temporal has lost. */
  async resume(input: Pick<PayoutInput, keyof PayoutKey | 'wasSubmitted'>): Promise<'rebuilt' | 'running'> {
    try {
      await this.client.call(({ workflow }) =>
        workflow.start<typeof payout>('payout', {
          ...startOptions(input),
          workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
        }),
      );
      return 'rebuilt';
    } catch (error) {
      if (isAlreadyExists(error)) return 'running';
      throw error;
    }
  }

  /**
   * Replaces the workflow of a payout that PostgreSQL has lost. The new one writes the row again, as submitted and
   * without a call, and queries the bank.
   * @throws Error if the row is not written within 9 s
   */
  async rebuild({ request, requestedAtMs }: RecordedPayoutRequest): Promise<void> {
    const { payoutId, merchantId } = request;
    const input = { payoutId, merchantId, request, lost: { requestedAtMs } };
    await this.client.callWorkflow(payoutWorkflowId(payoutId), (handle) => handle.terminate(ROW_LOST));
    await this.#requestWithStart(input);
  }

  /**
   * All requests of one run get the result of its first step, so a form that is sent twice is one request. Each has an
   * id of its own: under an earlier one Temporal would return the result of a run that was rejected, or lost its row.
   */
  #requestWithStart(input: PayoutInput): Promise<PayoutRequestResult> {
    const options = { updateId: randomUUID(), startWorkflowOperation: startOperation(input) };
    return this.client.callWorker(
      PAYOUTS_TASK_QUEUE,
      ({ workflow }) => workflow.executeUpdateWithStart(requestPayoutUpdate, options),
      UPDATE_TIMEOUT_MS,
    );
  }

  /** The status in the workflow; undefined if Temporal has no such workflow. */
  queryStatus(payoutId: string): Promise<PayoutWorkflowStatus | undefined> {
    const query = (handle: WorkflowHandle) => handle.query(payoutStatusQuery);
    return this.client.queryWorkflow(PAYOUTS_TASK_QUEUE, payoutWorkflowId(payoutId), query);
  }

  /** The last run of the payout's workflow; null if Temporal has no such workflow. A closed one is not queried. */
  async readRun(payoutId: string): Promise<PayoutRunReport | null> {
    const described = await this.client.callWorkflow(payoutWorkflowId(payoutId), (handle) => handle.describe());
    if (!described) return null;
    const { closed, retriedStep } = toDescribedRun(described);
    if (closed) return closed;
    const status = await this.queryStatus(payoutId);
    return status ? { state: 'running', ...status, retriedStep } : null;
  }

  /**
   * What the bank reports of the payout now. A worker of payouts asks it, and nothing is recorded.
   * @throws Error if there is no report within 8 s
   */
  readBankStatus(key: PayoutKey): Promise<BankStatusReport> {
    const { payoutId, merchantId } = key;
    return this.client.callWorker(
      PAYOUTS_TASK_QUEUE,
      ({ workflow }) =>
        workflow.execute<typeof bankStatus>('bankStatus', {
          ...payoutsQueueOptions(merchantId),
          workflowId: bankStatusWorkflowId(randomUUID()),
          workflowExecutionTimeout: BANK_STATUS_TIMEOUT_MS,
          args: [{ payoutId, merchantId }],
          staticSummary: "the bank's status",
          staticDetails: `Payout ${payoutId}`,
        }),
      BANK_STATUS_TIMEOUT_MS,
    );
  }
}

function startOperation(input: PayoutInput): WithStartWorkflowOperation<typeof payout> {
  return new WithStartWorkflowOperation<typeof payout>('payout', {
    ...startOptions(input),
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
  });
}

function startOptions(input: PayoutInput): WorkflowStartOptions<typeof payout> {
  return {
    ...payoutsQueueOptions(input.merchantId),
    workflowId: payoutWorkflowId(input.payoutId),
    args: [input],
    staticSummary: 'payout',
    staticDetails: `Payout ${input.payoutId}`,
  };
}
