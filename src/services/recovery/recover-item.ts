import { setTimeout as sleep } from 'node:timers/promises';
import type { Queryable } from '../../db/connection/pool';
import type { OpenPayment } from '../../db/payments/list-open-payments';
import type { TransitionContext } from '../../db/transitions/apply-transition';
import { messageOf } from '../../errors';
import type { PaymentWorkflowClient } from '../../temporal/payment-workflow-client';
import { reclaimDelivery } from '../../webhooks/outbox';
import { rebuildPayment } from './rebuild-payment';
import { isFinalStatus, startFromRow } from './restart-payment';

/** `running`: consistent already. `rebuilt`: written or started again. `notified`: its workflow was signalled. */
export type RecoveryResult = 'running' | 'rebuilt' | 'notified';

const ATTEMPTS = 5;
const RETRY_DELAY_MS = 500;

type Attempted<T> = { readonly result: T } | { readonly failure: string };

/** A failed item does not stop the others. */
export async function attempt<T>(work: () => Promise<T>, attemptsLeft = ATTEMPTS): Promise<Attempted<T>> {
  try {
    return { result: await work() };
  } catch (error) {
    if (attemptsLeft === 1) return { failure: messageOf(error) };
    await sleep(RETRY_DELAY_MS);
    return attempt(work, attemptsLeft - 1);
  }
}

/** A workflow whose payment is missing in PostgreSQL, or final there. */
export interface DifferingWorkflow {
  readonly paymentId: string;
  readonly hasRow: boolean;
}

/** Writes the row of a workflow again, or has the workflow of a final payment complete. */
export async function recoverRow(
  context: TransitionContext,
  workflows: PaymentWorkflowClient,
  { paymentId, hasRow }: DifferingWorkflow,
): Promise<RecoveryResult> {
  if (!hasRow) {
    await rebuildPayment(context, await workflows.records.readCreation(paymentId));
    return 'rebuilt';
  }
  return (await workflows.signalProviderUpdate(paymentId)) === 'signalled' ? 'notified' : 'running';
}

/** A workflow that runs records what PostgreSQL has lost by itself, once it has seen that PostgreSQL is behind. */
export async function recoverPayment(
  db: Queryable,
  workflows: PaymentWorkflowClient,
  payment: OpenPayment,
): Promise<RecoveryResult> {
  const { paymentId } = payment.terms;
  const { status } = payment.state;
  const workflow = await workflows.records.describe(paymentId);
  if (workflow?.isRunning) {
    if (workflow.status === status) return 'running';
    // A completing workflow handles no message. The next attempt starts it again.
    const isCompleting =
      isFinalStatus(workflow.status) || (await workflows.signalProviderUpdate(paymentId)) === 'no_workflow';
    if (isCompleting) throw new Error('its workflow is about to complete');
    return 'notified';
  }
  if (workflow === null || status !== 'created' || workflow.status === 'created') {
    return startFromRow(db, workflows, payment, workflow);
  }
  // PostgreSQL has lost the response to the creation. Another request would issue a QR with another timestamp.
  const { creation } = await workflows.records.readCreation(paymentId);
  return startFromRow(db, workflows, { ...payment, creation }, workflow);
}

/** A delivery whose retry workflow is lost returns to the relay. */
export async function recoverDelivery(
  { db }: TransitionContext,
  workflows: PaymentWorkflowClient,
  deliveryId: string,
): Promise<RecoveryResult> {
  if (await workflows.retries.isRunning(deliveryId)) return 'running';
  await reclaimDelivery(db, deliveryId);
  return 'rebuilt';
}
