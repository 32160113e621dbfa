import type { PaymentRow } from '../../db/payments/payment-row';
import { toStepActor, type OperatorActor } from '../../domain/actor';
import { DeclaredAction } from '../../domain/declared-action';
import { PAYMENT_ACTIONS, rejectionReason, type OperatorPaymentAction } from '../../domain/payment-actions';
import { isFinal } from '../../domain/payment-transitions';
import { ConflictError } from '../../errors';
import type { Logger } from '../../observability/logger';
import type { PaymentWorkflowClient } from '../../temporal/payment-workflow-client';
import { withAudit, type AuditDependencies } from '../audit/audit';
import { APPROVABLE_PAYMENT_ACTIONS, requireApproval } from '../audit/request-approval';
import { requestFromLost, type WorkflowStarter } from '../recovery/restart-payment';
import { findPayment } from './find-payment';

type PaymentActionClient = WorkflowStarter & Pick<PaymentWorkflowClient, 'request' | 'signalProviderUpdate'>;

export interface PaymentActionDependencies extends AuditDependencies {
  readonly workflows: PaymentActionClient;
  /** Receives what happens beside the action, too. */
  readonly log?: Pick<Logger, 'error' | 'warn'> | undefined;
}

export interface PaymentActionRequest {
  readonly action: OperatorPaymentAction;
  /** The UUID or `reference_id` of the payment. */
  readonly payment: string;
  /** The version that two operators have decided about; absent: whatever it is now. */
  readonly version?: number | undefined;
  readonly note?: string | undefined;
}

export type PaymentActionResult = Pick<PaymentRow, 'id' | 'referenceId' | 'status'>;

/**
 * Requests the action of the payment's workflow. Operator and note are recorded in the payment's history and in the
 * audit log.
 * @throws NotFoundError if there is no such payment, ConflictError with the reason of a rejection or if a second
 * operator has to approve it, Error if the outcome is not known
 */
export async function performPaymentAction(
  dependencies: PaymentActionDependencies,
  actor: OperatorActor,
  { action, payment: idOrReference, version, note }: PaymentActionRequest,
): Promise<PaymentActionResult> {
  const { db, workflows } = dependencies;
  const payment = await findPayment(db, idOrReference);
  const { id, referenceId } = payment;
  const approvable = APPROVABLE_PAYMENT_ACTIONS.find((name) => name === action);
  if (approvable) {
    const parameters = { paymentId: id, version: payment.version };
    const { totalRupiah: amountRupiah } = payment;
    const request = { action: approvable, target: referenceId, parameters, amountRupiah };
    await requireApproval(dependencies, actor, request, note);
  }
  return withAudit(
    dependencies,
    actor,
    { action: new DeclaredAction(PAYMENT_ACTIONS[action].auditName), target: id, note },
    async () => {
      await assertAllowed(workflows, action, payment);
      assertVersion(payment, version);
      const result = await requestFromLost(dependencies, id, () =>
        workflows.request(payment, action, toStepActor(actor, note)),
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
    },
  );
}

/** Without this check one person could repeat an approval, whose outcome was not recorded, in another situation. */
function assertVersion(payment: PaymentRow, version: number | undefined): void {
  if (version === undefined || version === payment.version) return;
  throw new ConflictError('superseded', 'The payment has changed since the request: request it again.');
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
