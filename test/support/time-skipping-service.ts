import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { UNPAID_FINAL_STATUSES, type PaymentStatus } from '../../src/domain/payment-transitions';
import { latePaymentWorkflowId, paymentWorkflowId } from '../../workflows/ids';
import { createPaid, createPayment, waitForStatus, type TestPayment } from './created-payment';
import { recordHistory } from './history';
import { startTestService, type TestService } from './service';
import { createTimeSkippingEnvironment } from './temporal';
import { VirtualClock } from './virtual-clock';

/** The service with Temporal's time-skipping server: a payment's lifecycle takes some seconds. */
export interface TimeSkippingService {
  readonly environment: TestWorkflowEnvironment;
  readonly clock: VirtualClock;
  readonly service: TestService;
  createPayment(provider?: string): Promise<TestPayment>;
  /** A payment in status `paid`. */
  createPaid(): Promise<TestPayment>;
  waitForStatus(id: string, status: string): Promise<void>;
  /** Advances the clock from timer to timer until the workflow is complete. A history with a name can be recorded. */
  runToEnd(id: string, name?: string): Promise<unknown>;
  /** The payment's transitions, with their timestamps in milliseconds. */
  transitions(id: string): Promise<{ name: string; at: number }[]>;
  close(): Promise<void>;
}

export async function startTimeSkippingService(): Promise<TimeSkippingService> {
  const environment = await createTimeSkippingEnvironment();
  // Without a cache each task replays the whole history, and a stopped worker keeps no workflow on this server.
  const service = await startTestService(
    { address: environment.address, namespace: 'default', security: {} },
    { maxCachedWorkflows: 0 },
  );
  const clock = new VirtualClock(environment, async () => {
    const { rows } = await service.db.query<{ id: string; status: PaymentStatus }>('select id, status from payments');
    return rows.flatMap(({ id, status }) =>
      UNPAID_FINAL_STATUSES.includes(status)
        ? [paymentWorkflowId(id), latePaymentWorkflowId(id)]
        : [paymentWorkflowId(id)],
    );
  });
  const timeSkipping: TimeSkippingService = {
    environment,
    clock,
    service,
    createPayment: (provider = 'gopay') => createPayment(service, { provider }),
    createPaid: () => createPaid(service),
    waitForStatus: (id, status) => waitForStatus(service, id, status),
    async runToEnd(id, name) {
      const workflow = service.client.workflow.getHandle(paymentWorkflowId(id));
      while ((await workflow.describe()).status.name === 'RUNNING') await clock.advanceToNextTimer();
      const status = await workflow.result();
      if (name !== undefined) await recordHistory(service.client, workflow.workflowId, `payment-${name}`);
      return status;
    },
    async transitions(id) {
      const { rows } = await service.db.query(
        'select name, occurred_at from payment_transitions where payment_id = $1 order by version',
        [id],
      );
      return rows.map(({ name, occurred_at }) => ({ name, at: occurred_at.getTime() }));
    },
    async close() {
      await service.close();
      await environment.teardown();
    },
  };
  return timeSkipping;
}
