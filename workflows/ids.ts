/** The ids and task queues of the workflows, without Temporal's SDK: a command needs them for its output. */

export const PAYMENTS_TASK_QUEUE = 'lunas-payments';
export const WEBHOOKS_TASK_QUEUE = 'lunas-webhooks';
export const PAYOUTS_TASK_QUEUE = 'lunas-payouts';
export const VERIFIER_TASK_QUEUE = 'lunas-verifier';

export function paymentWorkflowId(paymentId: string): string {
  return `payment-${paymentId}`;
}

export function toPaymentId(workflowId: string): string {
  return workflowId.slice(paymentWorkflowId('').length);
}

export function latePaymentWorkflowId(paymentId: string): string {
  return `late-payment-${paymentId}`;
}

export function webhookWorkflowId(deliveryId: string): string {
  return `webhook-${deliveryId}`;
}

export function webhookPingWorkflowId(endpointId: string, pingId: string): string {
  return `webhook-ping-${endpointId}-${pingId}`;
}

export function bankStatusWorkflowId(requestId: string): string {
  return `bank-status-${requestId}`;
}

export function bankAccountWorkflowId(bankAccountId: string): string {
  return `bank-account-${bankAccountId}`;
}

export function payoutWorkflowId(payoutId: string): string {
  return `payout-${payoutId}`;
}

export function toPayoutId(workflowId: string): string {
  return workflowId.slice(payoutWorkflowId('').length);
}
