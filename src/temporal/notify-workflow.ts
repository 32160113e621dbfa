import type { Queryable } from '../db/connection/pool';
import { findFinalPayment } from '../db/payments/find-final-payment';
import { findTerms } from '../db/payments/find-terms';
import type { PaymentWorkflowClient } from './payment-workflow-client';

/**
 * Signals the workflow of a payment that the provider's status may have changed; for a final payment, the workflow of
 * its late payment. `no_workflow`: the payment is open in PostgreSQL, but Temporal has lost its workflow.
 */
export async function notifyWorkflow(
  db: Queryable,
  workflows: PaymentWorkflowClient,
  paymentId: string,
): Promise<'notified' | 'no_workflow'> {
  if ((await workflows.signalProviderUpdate(paymentId)) === 'signalled') return 'notified';
  if (!(await findFinalPayment(db, paymentId))) return 'no_workflow';
  await workflows.signalLatePayment(await findTerms(db, paymentId));
  return 'notified';
}
