import { expiryOf, type PaymentTerms } from '../../domain/payment';
import type { TransitionName } from '../../domain/payment-transitions';
import type { RefundRequester } from '../../domain/refund';
import type { StepInput } from '../../domain/workflow-step';
import { snakeCase } from '../../lib/snake-case';
import { prepareStatement } from '../connection/statement';
import {
  executePaymentTransition,
  PAYMENT_PARAMETERS,
  resolveConflict,
  type TransitionInput,
  type TransitionResult,
} from './apply-payment-transition';
import type { TransitionContext } from './apply-transition';
import { readState } from './payment-state';
import { createStatement, updateStatement, type TransitionSql } from './payment-transition-sql';

/** Inputs that only some transitions have; each is a parameter of their statements. */
export interface TransitionDetails {
  readonly qrisPayload: string;
  readonly providerTransactionId: string;
  /** By the provider's clock, which may count in whole seconds. */
  readonly paidAt: Date;
  /** Why the payment or its refund failed. */
  readonly reason: string;
  /** 1 for the first refund of the payment. */
  readonly refundNumber: number;
  /** Identifies the refund at the provider. */
  readonly refundKey: string;
  /** How long the refund stays `held`, and can be cancelled. */
  readonly holdSeconds: number;
  readonly requestedBy: RefundRequester;
  /** The provider's id of the refund; null if it gave none. */
  readonly providerReference: string | null;
}

/** What the row of a new payment copies from its terms. The columns have the same names, in snake case. */
const CAPTURED_TERMS = [
  'referenceId',
  'merchantId',
  'merchantReferenceId',
  'idempotencyKey',
  'fingerprint',
  'paymentMethod',
  'provider',
  'providerAccountId',
  'amountRupiah',
  'feeRupiah',
  'totalRupiah',
  'netRupiah',
  'feePayer',
  'feeTerms',
  'vatRupiah',
  'policyId',
  'settlementKind',
  'settlementDelaySeconds',
] as const satisfies readonly (keyof PaymentTerms)[];

const CREATE = prepareStatement(
  'transition_create',
  [...PAYMENT_PARAMETERS, ...CAPTURED_TERMS, 'expiresAt', 'createdAt'],
  createStatement(
    `
  insert into payments (
    id,
    ${CAPTURED_TERMS.map(snakeCase).join(',\n    ')},
    expires_at, created_at, updated_at, status, version
  )
  select
    :paymentId,
    ${CAPTURED_TERMS.map((term) => `:${term}`).join(',\n    ')},
    :expiresAt, :createdAt, :createdAt, 'created', 1
  where not exists (select from archived_payments where payment_id = :paymentId)
  on conflict (id) do nothing
  returning *`,
  ),
);

/** Writes the payment as `created`. The first request to the provider follows. */
async function create(
  context: TransitionContext,
  { terms, createdAtMs, by }: Pick<StepInput, 'terms' | 'createdAtMs' | 'by'>,
): Promise<TransitionResult> {
  const dates = { expiresAt: new Date(expiryOf(createdAtMs, terms)), createdAt: new Date(createdAtMs) };
  const state = await executePaymentTransition(
    context,
    { name: 'create', statement: CREATE },
    { ...terms, feeTerms: terms.feeTerms ?? null, vatRupiah: terms.vatRupiah ?? 0, ...dates },
    by,
  );
  return state
    ? { outcome: 'applied', state }
    : { outcome: 'repeated', state: await readState(context.db, terms.paymentId) };
}

/** The writer of a transition from one status to another, which takes these details as its input. */
function transition<const Detail extends keyof TransitionDetails>(
  name: Exclude<TransitionName, 'create'>,
  details: readonly Detail[],
  sql: TransitionSql = {},
) {
  const statement = prepareStatement(
    `transition_${name}`,
    [...PAYMENT_PARAMETERS, 'version', 'at', ...details],
    updateStatement(name, sql),
  );
  async function write(
    context: TransitionContext,
    { by, ...input }: TransitionInput & Pick<TransitionDetails, Detail>,
  ): Promise<TransitionResult> {
    const state = await executePaymentTransition(context, { name, statement }, input, by);
    return state ? { outcome: 'applied', state } : resolveConflict(context.db, name, input);
  }
  return Object.assign(write, { statement });
}

/** All that changes a payment, by transition. Each call is one statement (`test/db/transitions/statements.sql`). */
export const transitionWriters = {
  create: Object.assign(create, { statement: CREATE }),
  /** The provider issued the QR. */
  issue: transition('issue', ['qrisPayload', 'providerTransactionId'], {
    payment: ['qris_payload = :qrisPayload', 'provider_transaction_id = :providerTransactionId'],
  }),
  /** The provider rejected the order, or did not issue the QR in time. */
  fail_creation: transition('fail_creation', ['reason'], { payment: ['failure_reason = :reason'] }),
  /** The provider confirmed the payment. The settlement delay starts at the timestamp of the transition. */
  pay: transition('pay', ['paidAt'], {
    payment: [
      'paid_at = greatest(:paidAt::timestamptz, created_at)',
      "settlement_due_at = :at::timestamptz + settlement_delay_seconds * interval '1 second'",
    ],
    closesNotificationsAt: 'paid',
    returnsConfirmation: true,
  }),
  /** The provider confirmed that the order expired unpaid. */
  expire: transition('expire', [], { closesNotificationsAt: 'expired' }),
  /** The provider confirmed that the order is cancelled. */
  cancel: transition('cancel', [], { payment: ['cancelled_at = :at'], closesNotificationsAt: 'cancelled' }),
  /** The provider reported that the payment failed, or an operator failed it. */
  fail: transition('fail', ['reason'], { payment: ['failure_reason = :reason'], closesNotificationsAt: 'failed' }),
  /** The refund is held first: the merchant can still cancel it. */
  request_refund: transition('request_refund', ['refundNumber', 'refundKey', 'holdSeconds', 'requestedBy']),
  /** Written before the first request to the provider: from here on the provider may have the refund. */
  submit_refund: transition('submit_refund', ['refundNumber']),
  /** The merchant cancels a refund that the provider has not received. A constraint rejects one that was submitted. */
  cancel_refund: transition('cancel_refund', ['refundNumber']),
  /** The provider confirmed that the customer received the refund. */
  confirm_refund: transition('confirm_refund', ['refundNumber', 'providerReference'], {
    refund: ['provider_reference = :providerReference'],
    closesNotificationsAt: 'refunded',
  }),
  /** The provider rejected the refund, and its status shows none. */
  fail_refund: transition('fail_refund', ['refundNumber', 'reason'], {
    refund: ['failure_reason = :reason'],
    closesNotificationsAt: 'refund_failed',
  }),
  /** The next refund after a rejected one. */
  retry_refund: transition('retry_refund', ['refundNumber', 'refundKey', 'holdSeconds', 'requestedBy']),
  /** The provider confirmed a refund that was recorded as rejected. */
  confirm_failed_refund: transition('confirm_failed_refund', ['refundNumber', 'providerReference'], {
    refund: ['provider_reference = :providerReference'],
    closesNotificationsAt: 'refunded',
  }),
  /**
   * An operator refunded the customer outside the provider, for example by bank transfer. The provider still reports
   * the order as paid. So a notification of a refund stays open.
   */
  resolve_refund_as_refunded: transition('resolve_refund_as_refunded', ['refundNumber'], {
    refund: ['is_manual = true'],
    closesNotificationsAt: 'paid',
  }),
  /** An operator abandons a rejected refund; the provider's status shows none. */
  resolve_refund_as_paid: transition('resolve_refund_as_paid', [], { closesNotificationsAt: 'paid' }),
  /** The settlement delay is over: the net amount becomes available to the merchant. */
  settle: transition('settle', []),
} as const satisfies Record<TransitionName, { readonly statement: object }>;
