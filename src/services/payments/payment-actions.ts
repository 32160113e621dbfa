import { ConflictError } from '../../errors';
import type { Queryable } from '../../db/connection/pool';
import type { PaymentRow } from '../../db/queries/payment-row';
import { PAYMENT_ACTIONS, rejectionReason, type OperatorPaymentAction } from '../../domain/payment-actions';
import { isFinal } from '../../domain/payment-transitions';
import type { PaymentWorkflowClient } from '../../temporal/payment-workflow-client';
import { type OperatorIdentity, withAudit } from '../audit/audit';
import { requestFromLost, type WorkflowStarter } from '../recovery/restart-payment';
import { findPayment } from './find-payment';
import { APPROVABLE_PAYMENT_ACTIONS, requireApproval } from '../audit/request-approval';

type PaymentActionClient = WorkflowStarter & Pick<PaymentWorkflowClient, 'request' | 'signalProviderUpdate'>;

export interface OperatorContext {
  readonly db: Queryable;
  readonly workflows: PaymentActionClient;
  readonly by: OperatorIdentity;
}

export type PaymentActionResult = Pick<PaymentRow, 'id' | 'referenceId' | 'status'>;

/**
 * Requests the action of the payment's workflow. Operator and note are recorded in the payment's history and in the
 * audit log.
 * @param idOrReference the payment's UUID or `reference_id`
 * @throws NotFoundError if there is no such payment, ConflictError with the reason of a rejection or if a second
 * operator has to approve it, Error if the outcome is not known
 */
export async function performPaymentAction(
  { db, workflows, by }: OperatorContext,
  action: OperatorPaymentAction,
  idOrReference: string,
  note?: string,
): Promise<PaymentActionResult> {
  const payment = await findPayment(db, idOrReference);
  const { id, referenceId } = payment;
  const approvable = APPROVABLE_PAYMENT_ACTIONS.find((name) => name === action);
  if (approvable) {
    const parameters = { paymentId: id };
    const { totalRupiah: amountRupiah } = payment;
    await requireApproval(db, by, { action: approvable, target: referenceId, parameters, amountRupiah }, note);
  }
  return withAudit(db, by, { action: PAYMENT_ACTIONS[action].auditName, target: id, note }, async () => {
    await assertAllowed(workflows, action, payment);
    const actor = { name: by.name, ...(note !== undefined && { note }) };
    const result = await requestFromLost({ db, workflows, log: by.log }, id, () =>
      workflows.request(payment, action, actor),
    );
    switch (result.outcome) {
      case 'done':
        return { id, referenceId, status: result.status };
      case 'rejected':
        if (result.status !== payment.status) await catchUp(workflows, id);
        throw new ConflictError('not_allowed', result.reason);
      case 'no_workflow': {
        const now = await findPayment(db, id);
        await assertAllowed(workflows, action, now);
        const text = `It is "${now.status}", and its workflow was lost again. Repeat this in a minute.`;
        throw new ConflictError('not_allowed', text);
      }
    }
  });
}

/** Checks the status in PostgreSQL before the request. The workflow checks the settlement delay, by its own clock. */
async function assertAllowed(
  workflows: PaymentActionClient,
  action: OperatorPaymentAction,
  payment: PaymentRow,
): Promise<void> {
  const rejection = rejectionReason(action, payment, payment, Date.now());
  if (rejection === null) return;
  if (!isFinal(payment.status)) await catchUp(workflows, payment.id);
  throw new ConflictError('not_allowed', rejection);
}

/**
 * The operator expected another status, so the workflow may be behind PostgreSQL: the signal makes it compare the two.
 * If the signal fails, the next request sends another.
 */
async function catchUp(workflows: PaymentActionClient, paymentId: string): Promise<void> {
  await workflows.signalProviderUpdate(paymentId).catch(() => undefined);
}
