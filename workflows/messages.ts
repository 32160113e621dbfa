import { defineSearchAttributeKey } from '@temporalio/common';
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { PaymentStatus } from '../src/domain/payment-transitions';

/** Everything that can be said to a workflow or read off it, and where its tasks go. */

export const PAYMENTS_TASK_QUEUE = 'lunas-payments';
export const WEBHOOKS_TASK_QUEUE = 'lunas-webhooks';

/** One payment, one workflow. */
export function paymentWorkflowId(paymentId: string): string {
  return `payment-${paymentId}`;
}

export function webhookWorkflowId(deliveryId: string): string {
  return `webhook-${deliveryId}`;
}

/** Answers once the creation can be answered: the QR is there, or the payment failed. Sent with the start. */
export const createUpdate = defineUpdate<PaymentStatus>('create');
export const CREATE_UPDATE_ID = 'create';

/** The customer may have paid: ask the provider now. */
export const paidSignal = defineSignal('paid');

/** The merchant cancels. Refused at once where that cannot be; else answers when the provider has decided. */
export const cancelUpdate = defineUpdate<PaymentStatus>('cancel');

/** The same, asked for by an operator in the Web UI. */
export const cancelSignal = defineSignal('cancel');

/** Type of the failure with which an update is refused; its message is for whoever asked. */
export const REFUSED = 'Refused';

/** A payment with manual settlement may settle, once its delay is over. */
export const settleSignal = defineSignal('settle');

export interface PaymentReport {
  readonly status: PaymentStatus;
  readonly version: number;
  /** In words, for an operator. */
  readonly waitingFor: string;
  readonly expiresAt: string;
  readonly settlesAt: string | null;
  /** Why a person should look at it; null when all is well. */
  readonly attention: string | null;
}

export const statusQuery = defineQuery<PaymentReport>('status');

/** Registered in the namespace when the worker starts; they hold ids, enums and instants only. */
export const SEARCH_ATTRIBUTES = {
  paymentStatus: defineSearchAttributeKey('PaymentStatus', 'KEYWORD'),
  merchantId: defineSearchAttributeKey('MerchantId', 'KEYWORD'),
  provider: defineSearchAttributeKey('Provider', 'KEYWORD'),
  referenceId: defineSearchAttributeKey('ReferenceId', 'KEYWORD'),
  expiresAt: defineSearchAttributeKey('ExpiresAt', 'DATETIME'),
  needsAttention: defineSearchAttributeKey('NeedsAttention', 'BOOL'),
} as const;
