import { defineSearchAttributeKey } from '@temporalio/common';
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { PaymentStatus } from '../src/domain/payment-transitions';
import type { PayoutRequestResult } from '../src/domain/payout-step';
import type { PayoutStatus } from '../src/domain/payout-transitions';
import type { RefundState } from '../src/domain/refund';

/** The messages and search attributes of the workflows. */

/** Sent with the start. Completes when the QR code is issued, or the payment failed. */
export const createUpdate = defineUpdate<PaymentStatus>('create');
export const CREATE_UPDATE_ID = 'create';

export const paidSignal = defineSignal('paid');
export const PAID_SIGNAL_DESCRIPTION = "The provider's status may have changed: query it now. Safe at any time.";

/** The type of the failure that rejects an update. Its message is for the caller. */
export const REQUEST_REJECTED = 'RequestRejected';

/** The request is for another version of the payment or payout. The failure's detail is the version in the workflow. */
export const REQUEST_OUTDATED = 'RequestOutdated';

export interface PaymentWorkflowStatus {
  readonly status: PaymentStatus;
  readonly version: number;
  /** In words, for operators. */
  readonly waitingFor: string;
  readonly expiresAt: string;
  readonly settlesAt: string | null;
  /** Why an operator should look at the payment; null if the workflow needs no attention. */
  readonly attentionReason: string | null;
  readonly refund: RefundState | null;
}

export const statusQuery = defineQuery<PaymentWorkflowStatus>('status');

/** Sent with the start. Completes when the balance is reserved, or the request is rejected. */
export const requestPayoutUpdate = defineUpdate<PayoutRequestResult>('request');

export const bankUpdatedSignal = defineSignal('bankUpdated');

export interface PayoutWorkflowStatus {
  /** Null before the payout has its row. */
  readonly status: PayoutStatus | null;
  readonly version: number;
  /** In words, for operators. */
  readonly waitingFor: string;
  /** Why an operator should look at the payout; null if the workflow needs no attention. */
  readonly attentionReason: string | null;
}

export const payoutStatusQuery = defineQuery<PayoutWorkflowStatus>('status');

/** The worker registers them in the namespace when it starts. They hold only ids, enums and timestamps. */
export const SEARCH_ATTRIBUTES = {
  paymentStatus: defineSearchAttributeKey('PaymentStatus', 'KEYWORD'),
  payoutStatus: defineSearchAttributeKey('PayoutStatus', 'KEYWORD'),
  merchantId: defineSearchAttributeKey('MerchantId', 'KEYWORD'),
  provider: defineSearchAttributeKey('Provider', 'KEYWORD'),
  referenceId: defineSearchAttributeKey('ReferenceId', 'KEYWORD'),
  expiresAt: defineSearchAttributeKey('ExpiresAt', 'DATETIME'),
  needsAttention: defineSearchAttributeKey('NeedsAttention', 'BOOL'),
} as const;
