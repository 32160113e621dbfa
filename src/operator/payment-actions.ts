import { UserError } from '../errors';
import type { Queryable } from '../db/pool';
import type { PaymentRow } from '../db/queries/payment-row';
import { rejectionReason, type PaymentAction } from '../domain/payment-actions';
import type { Actor as PaymentActor } from '../domain/workflow-step';
import { isFinal, type PaymentStatus } from '../domain/payment-transitions';
import type { PaymentWorkflowClient, RequestOutcome } from '../temporal/payment-workflow-client';
import { type OperatorIdentity, withAudit, type OperatorActionName } from './audit';
import { findPayment } from './find-payment';

type PaymentActionClient = Pick<
  PaymentWorkflowClient,
  'settlePayment' | 'failPayment' | 'retryRefund' | 'resolveRefund' | 'signalProviderUpdate'
>;

/** Who acts, and on what. */
export interface OperatorContext {
  readonly db: Queryable;
  readonly workflows: PaymentActionClient;
  readonly by: OperatorIdentity;
}

interface OperatorPaymentAction {
  readonly request: PaymentAction;
  readonly send: (workflows: PaymentActionClient, paymentId: string, by: PaymentActor) => Promise<RequestOutcome>;
}

/** What an operator has the workflow of a payment do. */
const OPERATOR_PAYMENT_ACTIONS = {
  'payment.settle': { request: 'settle', send: (workflows, id, by) => workflows.settlePayment(id, by) },
  'payment.fail': { request: 'fail', send: (workflows, id, by) => workflows.failPayment(id, by) },
  'refund.retry': { request: 'retryRefund', send: (workflows, id, by) => workflows.retryRefund(id, by) },
  'refund.resolve_as_refunded': {
    request: 'resolveRefundAsRefunded',
    send: (workflows, id, by) => workflows.resolveRefund(id, by, 'refunded'),
  },
  'refund.resolve_as_paid': {
    request: 'resolveRefundAsPaid',
    send: (workflows, id, by) => workflows.resolveRefund(id, by, 'paid'),
  },
} as const satisfies Partial<Record<OperatorActionName, OperatorPaymentAction>>;

export type PaymentActionName = keyof typeof OPERATOR_PAYMENT_ACTIONS;

export interface PaymentActionResult {
  readonly id: string;
  readonly referenceId: string;
  readonly status: PaymentStatus;
}

/**
 * Has the payment's workflow do it, as the operator and with the operator's note in the payment's own history.
 * @param idOrReference the payment's UUID or `reference_id`
 * @throws NotFoundError when there is no such payment, UserError that says why it was refused, Error when it is not known
 *   what became of it
 */
export async function performPaymentAction(
  { db, workflows, by }: OperatorContext,
  action: PaymentActionName,
  idOrReference: string,
  note?: string,
): Promise<PaymentActionResult> {
  const payment = await findPayment(db, idOrReference);
  const { id, referenceId } = payment;
  const { request, send }: OperatorPaymentAction = OPERATOR_PAYMENT_ACTIONS[action];
  return withAudit(db, by, { action, target: id, note }, async () => {
    await assertAllowed(workflows, request, payment);
    const result = await send(workflows, id, { name: by.name, ...(note !== undefined && { note }) });
    switch (result.outcome) {
      case 'done':
        return { id, referenceId, status: result.status };
      case 'rejected':
        if (result.status !== payment.status) await catchUp(workflows, id);
        throw new UserError(result.reason);
      case 'no_workflow': {
        const now = await findPayment(db, id);
        await assertAllowed(workflows, request, now);
        throw new UserError(`It is "${now.status}" and has no workflow any more; lunas recover brings it back.`);
      }
    }
  });
}

/** What its status rules out is not requested. Whether its time has come the workflow judges, by its own clock. */
async function assertAllowed(
  workflows: PaymentActionClient,
  request: PaymentAction,
  payment: PaymentRow,
): Promise<void> {
  const rejection = rejectionReason(request, payment, payment, Date.now());
  if (rejection === null) return;
  if (!isFinal(payment.status)) await catchUp(workflows, payment.id);
  throw new UserError(rejection);
}

/** An operator expected another status: the workflow may be behind PostgreSQL. A report has it compare; any other time will do. */
async function catchUp(workflows: PaymentActionClient, paymentId: string): Promise<void> {
  await workflows.signalProviderUpdate(paymentId).catch(() => undefined);
}
