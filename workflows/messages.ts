import { defineSearchAttributeKey } from '@temporalio/common';
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { Actor } from '../src/domain/workflow-step';
import type { PaymentStatus } from '../src/domain/payment-transitions';
import type { RefundState } from '../src/domain/refund';

/** Everything that can be said to a workflow or read off it, and where its tasks go. */

export const PAYMENTS_TASK_QUEUE = 'lunas-payments';
export const WEBHOOKS_TASK_QUEUE = 'lunas-webhooks';

/** One payment, one workflow. */
export function paymentWorkflowId(paymentId: string): string {
  return `payment-${paymentId}`;
}

export function toPaymentId(workflowId: string): string {
  return workflowId.slice(paymentWorkflowId('').length);
}

/** What came after its end. */
export function latePaymentWorkflowId(paymentId: string): string {
  return `late-payment-${paymentId}`;
}

export function webhookWorkflowId(deliveryId: string): string {
  return `webhook-${deliveryId}`;
}

/** Answers once the creation can be answered: the QR is there, or the payment failed. Sent with the start. */
export const createUpdate = defineUpdate<PaymentStatus>('create');
export const CREATE_UPDATE_ID = 'create';

/** The provider has news: ask it now. */
export const paidSignal = defineSignal('paid');

/**
 * What merchants and operators ask for, each as an update: refused at once where it cannot be, else answered when it is
 * done, or was refused by the provider.
 */
export const cancelUpdate = defineUpdate<PaymentStatus>('cancel');
export const refundUpdate = defineUpdate<PaymentStatus>('refund');
export const settleUpdate = defineUpdate<PaymentStatus, [Actor]>('settle');
export const failUpdate = defineUpdate<PaymentStatus, [Actor]>('fail');
export const retryRefundUpdate = defineUpdate<PaymentStatus, [Actor]>('retryRefund');
export const resolveRefundUpdate = defineUpdate<PaymentStatus, [Actor, RefundResolution]>('resolveRefund');

/** How an operator ends a refund that the provider refused. */
export type RefundResolution = 'refunded' | 'paid';

/** The same, asked for in the Web UI; nobody waits for an answer. */
export const cancelSignal = defineSignal('cancel');
export const refundSignal = defineSignal('refund');
export const settleSignal = defineSignal('settle');

/** Type of the failure with which an update is refused; its message is for whoever asked. */
export const REQUEST_REJECTED = 'RequestRejected';

export interface PaymentWorkflowStatus {
  readonly status: PaymentStatus;
  readonly version: number;
  /** In words, for an operator. */
  readonly waitingFor: string;
  readonly expiresAt: string;
  readonly settlesAt: string | null;
  /** Why a person should look at it; null when all is well. */
  readonly attentionReason: string | null;
  readonly refund: RefundState | null;
}

export const statusQuery = defineQuery<PaymentWorkflowStatus>('status');

/** Registered in the namespace when the worker starts; they hold ids, enums and instants only. */
export const SEARCH_ATTRIBUTES = {
  paymentStatus: defineSearchAttributeKey('PaymentStatus', 'KEYWORD'),
  merchantId: defineSearchAttributeKey('MerchantId', 'KEYWORD'),
  provider: defineSearchAttributeKey('Provider', 'KEYWORD'),
  referenceId: defineSearchAttributeKey('ReferenceId', 'KEYWORD'),
  expiresAt: defineSearchAttributeKey('ExpiresAt', 'DATETIME'),
  needsAttention: defineSearchAttributeKey('NeedsAttention', 'BOOL'),
} as const;
