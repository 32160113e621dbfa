import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy, type Client } from '@temporalio/client';
import { validate as isUuid } from 'uuid';
import { webhookPingWorkflowId, WEBHOOKS_TASK_QUEUE, webhookWorkflowId } from '../../workflows/ids';
import { SEARCH_ATTRIBUTES } from '../../workflows/messages';
import type { webhookDelivery } from '../../workflows/webhook-delivery';
import type { webhookPing } from '../../workflows/webhook-ping';
import { PING_TIMEOUT_MS, PING_WAIT_MS, type PingReport, type WebhookPingInput } from '../domain/ping-report';
import type { SubjectKind } from '../domain/subject';
import type { FailedDelivery } from '../webhooks/relay';
import type { BoundedClient } from './bounded-client';
import { isAlreadyExists } from './grpc-errors';

/** The names of subjects for operators. */
const SUBJECT_NAMES = {
  payment: 'Payment',
  late_payment: 'Late payment of payment',
  payout: 'Payout',
  invoice: 'Invoice',
} as const satisfies Record<SubjectKind, string>;

/** The workflows that make the attempts of a delivery after the first one. */
export class RetryWorkflowClient {
  constructor(private readonly client: BoundedClient) {}

  /**
   * Starts the retry workflow of a delivery. A retry workflow that is running starts from the beginning: the delivery
   * was redelivered, or the relay stopped between this call and its record.
   */
  async start({ delivery, attempt, delaySeconds }: FailedDelivery): Promise<void> {
    const { deliveryId, endpointId, event, merchantId, subject, referenceId, url } = delivery;
    const summary = `${event} of ${referenceId} to ${new URL(url).host}`;
    const about = `${SUBJECT_NAMES[subject.kind]} ${subject.id}`;
    const input = {
      deliveryId,
      initialDelayMs: Math.round(delaySeconds * 1_000),
      summary,
      firstFailure: attempt.failure ?? 'unknown',
    };
    await this.client.call(({ workflow }) =>
      workflow.start<typeof webhookDelivery>('webhookDelivery', {
        workflowId: webhookWorkflowId(deliveryId),
        workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
        workflowIdConflictPolicy: WorkflowIdConflictPolicy.TERMINATE_EXISTING,
        taskQueue: WEBHOOKS_TASK_QUEUE,
        args: [input],
        staticSummary: summary,
        // No path and no query of the address: merchants put secrets there.
        staticDetails: `Endpoint ${endpointId}\n\nDelivery ${deliveryId}\n\n${about}`,
        priority: { fairnessKey: merchantId },
        typedSearchAttributes: [
          { key: SEARCH_ATTRIBUTES.merchantId, value: merchantId },
          { key: SEARCH_ATTRIBUTES.referenceId, value: referenceId },
        ],
      }),
    );
  }

  /**
   * Has a worker send a test request to an endpoint, and waits for the result.
   * @param pingId a repeat with the same one has the result of the first
   * @throws Error if there is no result within 8 s: `isTimeout`
   */
  async ping(pingId: string, input: WebhookPingInput): Promise<PingReport> {
    const { endpointId, merchantId } = input;
    const workflowId = webhookPingWorkflowId(endpointId, pingId);
    const ping = async ({ workflow }: Client) => {
      try {
        await workflow.start<typeof webhookPing>('webhookPing', {
          workflowId,
          workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
          workflowExecutionTimeout: PING_TIMEOUT_MS,
          taskQueue: WEBHOOKS_TASK_QUEUE,
          args: [input],
          staticSummary: 'test request',
          staticDetails: `Endpoint ${endpointId}`,
          priority: { fairnessKey: merchantId },
          typedSearchAttributes: [{ key: SEARCH_ATTRIBUTES.merchantId, value: merchantId }],
        });
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
      }
      return workflow.getHandle<typeof webhookPing>(workflowId).result();
    };
    return this.client.callWorker(WEBHOOKS_TASK_QUEUE, ping, PING_WAIT_MS);
  }

  async isRunning(deliveryId: string): Promise<boolean> {
    const described = await this.client.callWorkflow(webhookWorkflowId(deliveryId), (handle) => handle.describe());
    return described?.status.name === 'RUNNING';
  }

  /** The deliveries whose retry workflow runs, as far as Temporal's visibility has them. */
  async *listDeliveryIds(): AsyncGenerator<string> {
    const query = "WorkflowType = 'webhookDelivery' and ExecutionStatus = 'Running'";
    for await (const { workflowId } of this.client.list(query)) {
      const deliveryId = workflowId.slice(webhookWorkflowId('').length);
      if (isUuid(deliveryId)) yield deliveryId;
    }
  }

  /** Ends the retries of a delivery that PostgreSQL no longer has. */
  async terminate(deliveryId: string, reason: string): Promise<void> {
    await this.client.call(({ workflow }) => workflow.getHandle(webhookWorkflowId(deliveryId)).terminate(reason));
  }
}
