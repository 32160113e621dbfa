import { findTerms } from '../db/queries/find-terms';
import { findFinalPayment } from '../db/queries/find-final-payment';
import type { Queryable } from '../db/pool';
import type { PaymentWorkflowClient } from './payment-workflow-client';

/**
 * The provider has news of a payment: its workflow asks what it is; after the end of that life, the workflow for late money
 * does. `no_workflow`: its life goes on in PostgreSQL, and Temporal has lost it (`lunas recover`).
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
