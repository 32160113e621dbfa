import { paymentWorkflowId } from '../../workflows/ids';
import { addLogIds } from '../observability/correlation';

const PAYMENT_WORKFLOW = /^(?:late-)?payment-(?<paymentId>.+)$/;

/** The request that is being handled concerns this payment: its log lines name the payment and its workflow. */
export function logPayment(paymentId: string): void {
  addLogIds(paymentIds(paymentId));
}

/** The ids of a payment, for a log line. */
export function paymentIds(paymentId: string) {
  return { paymentId, workflowId: paymentWorkflowId(paymentId) };
}

/** The ids of the payment of a workflow, for a log line; empty for the workflows of no single payment. */
export function paymentIdOf(workflowId: unknown): { readonly paymentId?: string } {
  const paymentId = typeof workflowId === 'string' ? PAYMENT_WORKFLOW.exec(workflowId)?.groups?.paymentId : undefined;
  return paymentId === undefined ? {} : { paymentId };
}
